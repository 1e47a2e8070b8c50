package score

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// erasure is a request under way, as far as this role is concerned.
type erasure struct {
	order *wire.Order
	// suppressed, swapped and scanned are the newest attempts of which that step
	// was acknowledged, or -1.
	suppressed, swapped, scanned int
}

// takeNotices follows the erasure orders. Suppression takes effect before
// anything else is scored.
func (l *logic) takeNotices(notices []wire.Notice) error {
	for _, n := range notices {
		switch {
		case n.Order != nil:
			known := l.erasures[n.Order.RequestID]
			if known == nil {
				known = &erasure{suppressed: -1, swapped: -1, scanned: -1}
				l.erasures[n.Order.RequestID] = known
			}
			known.order = n.Order
			if err := l.suppress(n.Order.Suppressed); err != nil {
				return fmt.Errorf("request %s: %w", n.Order.RequestID, err)
			}
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
	}
	return nil
}

// suppress notes the erased ids' keyed hashes.
func (l *logic) suppress(hashes []lethe.Digest) error {
	if !slices.ContainsFunc(hashes, func(d lethe.Digest) bool { return !l.state.suppressed[d] }) {
		return nil
	}
	err := l.state.store.Apply(func(w swapstore.Writer) error {
		for _, d := range hashes {
			if err := w.Set(suppressedKey(d), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note suppressed transactions: %w", err)
	}
	for _, d := range hashes {
		l.state.suppressed[d] = true
	}
	return nil
}

// acknowledge does the next thing that an order asks for, as far as what has
// arrived allows, and says so, or is idle.
func (l *logic) acknowledge(ctx context.Context) (role.Output, error) {
	for _, id := range slices.Sorted(maps.Keys(l.erasures)) {
		out, due, err := l.acknowledgeOne(ctx, l.erasures[id])
		if err != nil {
			return role.Output{}, fmt.Errorf("request %s: %w", id, err)
		}
		if due {
			return out, nil
		}
	}
	return role.Output{Idle: true}, nil
}

// acknowledgeOne suppresses, then writes the store anew, then searches what is
// left.
func (l *logic) acknowledgeOne(ctx context.Context, e *erasure) (out role.Output, due bool, err error) {
	o := e.order
	switch {
	case e.suppressed < o.Attempt:
		out, err = send(l.newAck(o, deletions.StepSuppressed), &e.suppressed)
	case o.Phase != wire.PhasePurge || e.scanned >= o.Attempt || !l.replaced(o):
		return role.Output{}, false, nil
	case e.swapped < o.Attempt:
		if err := l.purge(ctx); err != nil {
			return role.Output{}, false, err
		}
		out, err = send(l.newAck(o, deletions.StepSwapped), &e.swapped)
	default:
		summary, err := l.search(ctx, o)
		if err != nil {
			return role.Output{}, false, err
		}
		a := l.newAck(o, deletions.StepScanned)
		a.Scan = &summary
		out, err = send(a, &e.scanned)
		return out, true, err
	}
	return out, true, err
}

// replaced reports whether everything the order replaces has arrived: the new
// graphs and manifests, and an ensemble that fits them.
func (l *logic) replaced(o *wire.Order) bool {
	if !l.state.fits() {
		return false
	}
	for _, step := range o.Steps {
		if !l.stepReplaced(step) {
			return false
		}
	}
	// Candidates are kept only if it can be told that they are of the new
	// lineage.
	for c := range l.state.candidates {
		if _, known := l.state.lineages.At(c.timestep); !known {
			return false
		}
	}
	return true
}

// stepReplaced reports whether nothing that a timestep held before the erasure
// can still arrive.
func (l *logic) stepReplaced(step wire.OrderStep) bool {
	t := step.Timestep
	if l.state.links[t].revision < step.Revision {
		return false
	}
	if !step.Settled {
		return true
	}
	if l.state.revisions[t] < step.Revision {
		return false
	}
	if l.state.served != nil && t <= l.state.served.Through {
		return true
	}
	// No ensemble that learnt from it is served yet, so the ensemble does not
	// tell whether the new models have come. The old ones are before them.
	want, known := l.state.lineages.At(t)
	for _, shard := range step.Shards {
		if !known || int(shard) >= len(want) || l.state.candidates[candidate{t, shard}] != want[shard] {
			return false
		}
	}
	return true
}

// purge writes the store anew, so that what was replaced or deleted is gone from
// the disk.
func (l *logic) purge(ctx context.Context) error {
	stale := make(map[string]bool)
	for c, lineage := range l.state.candidates {
		if want, _ := l.state.lineages.At(c.timestep); want[c.shard] != lineage {
			stale[string(c.key())] = true
			delete(l.state.candidates, c)
		}
	}
	err := l.state.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if stale[string(key)] {
				return nil
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("rewrite store: %w", err)
	}
	return nil
}

// One process plays the role; acknowledgements name it.
const (
	roleName = "score"
	instance = "1"
)

// newAck acknowledges a step of an order with the ensemble that is served.
func (l *logic) newAck(o *wire.Order, step deletions.Step) deletions.Ack {
	a := deletions.NewAck(o.RequestID, roleName, instance, step)
	a.Attempt = o.Attempt
	if l.state.served != nil {
		a.Ensemble = l.state.served.Version
	}
	return a
}

// send publishes an acknowledgement and notes its attempt.
func send(a deletions.Ack, note *int) (role.Output, error) {
	value, err := a.Encode()
	if err != nil {
		return role.Output{}, err
	}
	records := []ingest.Outgoing{{Key: []byte(a.Key()), Value: value}}
	return role.Output{Topic: bus.ErasureStatus, Records: records, Note: func() error {
		*note = a.Attempt
		return nil
	}}, nil
}
