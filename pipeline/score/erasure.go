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
	command *wire.Command
	// suppressed, swapped and scanned are the newest attempts of which that step
	// was acknowledged, or -1.
	suppressed, swapped, scanned int
}

// takeNotices follows the commands of erasures. Suppression takes effect before
// anything else is scored.
func (l *logic) takeNotices(notices []wire.Notice) error {
	for _, n := range notices {
		switch {
		case n.Command != nil:
			known := l.erasures[n.Command.RequestID]
			if known == nil {
				known = &erasure{suppressed: -1, swapped: -1, scanned: -1}
				l.erasures[n.Command.RequestID] = known
			}
			known.command = n.Command
			if err := l.state.suppress(n.Command.Suppressed); err != nil {
				return fmt.Errorf("request %s: %w", n.Command.RequestID, err)
			}
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
	}
	return nil
}

// acknowledge does the next thing that a command asks for, as far as what has
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
	c := e.command
	switch {
	case e.suppressed < c.Attempt:
		out, err = send(l.newAck(c, deletions.StepSuppressed), &e.suppressed)
	case c.Phase != wire.PhasePurge || e.scanned >= c.Attempt || !l.state.replaced(c):
		return role.Output{}, false, nil
	case e.swapped < c.Attempt:
		if err := l.state.purge(ctx); err != nil {
			return role.Output{}, false, err
		}
		out, err = send(l.newAck(c, deletions.StepSwapped), &e.swapped)
	default:
		summary, err := l.search(ctx, c)
		if err != nil {
			return role.Output{}, false, err
		}
		a := l.newAck(c, deletions.StepScanned)
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

// newAck acknowledges a step of a command with the ensemble that is served.
func (l *logic) newAck(c *wire.Command, step deletions.Step) deletions.Ack {
	a := deletions.NewAck(c.RequestID, roleName, instance, step)
	a.Attempt = c.Attempt
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
