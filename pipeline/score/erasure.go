package score

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
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
			if err := l.state.suppress(n.Order.Suppressed); err != nil {
				return fmt.Errorf("request %s: %w", n.Order.RequestID, err)
			}
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
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
	case o.Phase != wire.PhasePurge || e.scanned >= o.Attempt || !l.state.replaced(o):
		return role.Output{}, false, nil
	case e.swapped < o.Attempt:
		if err := l.state.purge(ctx); err != nil {
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
