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
	"lethe/pipeline/wire"
)

// erasure is a request under way, as far as this role is concerned.
type erasure struct {
	order *wire.Order
	// suppressed and purged are the newest attempts of which the phase was
	// acknowledged, or -1.
	suppressed, purged int
}

// takeNotices follows the erasure orders. Suppression takes effect before
// anything else is scored.
func (r *Role) takeNotices(batch bus.Batch) error {
	for _, rec := range batch.Records {
		n, err := wire.ParseNotice(rec)
		if err != nil {
			return err
		}
		switch {
		case n.Order != nil:
			known := r.erasures[n.Order.RequestID]
			if known == nil {
				known = &erasure{suppressed: -1, purged: -1}
				r.erasures[n.Order.RequestID] = known
			}
			known.order = n.Order
			if err := r.suppress(n.Order.Suppressed); err != nil {
				return fmt.Errorf("request %s: %w", n.Order.RequestID, err)
			}
		case n.Deleted != "":
			delete(r.erasures, n.Deleted)
		}
	}
	return nil
}

// suppress notes the erased ids' keyed hashes.
func (r *Role) suppress(hashes []lethe.Digest) error {
	if !slices.ContainsFunc(hashes, func(d lethe.Digest) bool { return !r.state.suppressed[d] }) {
		return nil
	}
	err := r.state.store.Apply(func(w swapstore.Writer) error {
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
		r.state.suppressed[d] = true
	}
	return nil
}

// acknowledge does what the orders ask for, as far as what has arrived allows,
// and says so.
func (r *Role) acknowledge(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(r.erasures)) {
		e := r.erasures[id]
		if e.suppressed < e.order.Attempt {
			if err := r.send(ctx, r.newAck(e.order, deletions.StepSuppressed)); err != nil {
				return err
			}
			e.suppressed = e.order.Attempt
		}
		if e.order.Phase != wire.PhasePurge || e.purged >= e.order.Attempt || !r.replaced(e.order) {
			continue
		}
		if err := r.purge(ctx, e.order); err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
		e.purged = e.order.Attempt
	}
	return nil
}

// replaced reports whether everything the order replaces has arrived: the new
// graphs and manifests, and an ensemble that fits them.
func (r *Role) replaced(o *wire.Order) bool {
	if !r.state.fits() {
		return false
	}
	for _, step := range o.Steps {
		if !r.stepReplaced(step) {
			return false
		}
	}
	// Candidates are kept only if it can be told that they are of the new
	// lineage.
	for c := range r.state.candidates {
		if _, known := r.state.lineages.At(c.timestep); !known {
			return false
		}
	}
	return true
}

// stepReplaced reports whether nothing that a timestep held before the erasure
// can still arrive.
func (r *Role) stepReplaced(step wire.OrderStep) bool {
	t := step.Timestep
	if r.state.links[t].revision < step.Revision {
		return false
	}
	if !step.Settled {
		return true
	}
	if r.state.revisions[t] < step.Revision {
		return false
	}
	if r.state.served != nil && t <= r.state.served.Through {
		return true
	}
	// No ensemble that learnt from it is served yet, so the ensemble does not
	// tell whether the new models have come. The old ones are before them.
	want, known := r.state.lineages.At(t)
	for _, shard := range step.Shards {
		if !known || int(shard) >= len(want) || r.state.candidates[candidate{t, shard}] != want[shard] {
			return false
		}
	}
	return true
}

// purge writes the store anew, so that what was replaced or deleted is gone
// from the disk, searches what is left, and acknowledges both.
func (r *Role) purge(ctx context.Context, o *wire.Order) error {
	stale := make(map[string]bool)
	for c, lineage := range r.state.candidates {
		if want, _ := r.state.lineages.At(c.timestep); want[c.shard] != lineage {
			stale[string(c.key())] = true
			delete(r.state.candidates, c)
		}
	}
	err := r.state.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
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
	if err := r.send(ctx, r.newAck(o, deletions.StepSwapped)); err != nil {
		return err
	}
	summary, err := o.Search(ctx, r.o.Secret, r.o.Dir)
	if err != nil {
		return err
	}
	scanned := r.newAck(o, deletions.StepScanned)
	scanned.Scan = &summary
	return r.send(ctx, scanned)
}

// One process plays the role; acknowledgements name it.
const (
	roleName = "score"
	instance = "1"
)

// newAck acknowledges a step of an order with the ensemble that is served.
func (r *Role) newAck(o *wire.Order, step deletions.Step) deletions.Ack {
	a := deletions.NewAck(o.RequestID, roleName, instance, step)
	a.Attempt = o.Attempt
	if r.state.served != nil {
		a.Ensemble = r.state.served.Version
	}
	return a
}

// send publishes an acknowledgement.
func (r *Role) send(ctx context.Context, a deletions.Ack) error {
	value, err := a.Encode()
	if err != nil {
		return err
	}
	return r.o.Client.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{{Key: []byte(a.Key()), Value: value}})
}
