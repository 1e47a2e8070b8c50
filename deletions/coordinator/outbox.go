package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// outbox is what the coordinator says of requests.
type outbox struct {
	bus      Bus
	graphs   Graphs
	clock    Clock
	listener events.Listener
	// rolls counts the markers still to follow a withdrawal, rolled is when the
	// last was written.
	rolls  int
	rolled time.Time
}

// announce publishes a request's state.
func (o *outbox) announce(ctx context.Context, e deletions.Entry) error {
	status := e.Status()
	value, err := status.Encode()
	if err != nil {
		return err
	}
	o.listener.ErasureChanged(events.ErasureChanged{State: string(e.State)})
	return o.bus.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{{Key: []byte(e.RequestID), Value: value}})
}

// command asks the other roles to do their part. Revisions only grow, so those of
// now will do for a timestep that was rewritten before.
func (o *outbox) command(ctx context.Context, e deletions.Entry, phase wire.Phase) error {
	command := &wire.Command{
		RequestID: e.RequestID, Attempt: e.Attempts, Phase: phase,
		Suppressed: e.Targets, Fingerprints: e.Progress.Fingerprints,
	}
	if phase == wire.PhasePurge {
		command.Steps = o.graphs.Steps(replacedBy(e))
	}
	record, err := command.Record()
	if err != nil {
		return err
	}
	return o.bus.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{record})
}

// repeat sends the command and the state of an open request once more. A request
// whose targets are still needed is not commanded anew: it goes on when it has
// been read again.
func (o *outbox) repeat(ctx context.Context, e deletions.Entry) (err error) {
	switch e.State {
	case deletions.Suppressed:
		err = o.command(ctx, e, wire.PhaseSuppress)
	case deletions.Retraining, deletions.Swapped, deletions.Verifying:
		err = o.command(ctx, e, wire.PhasePurge)
	default:
	}
	if err != nil {
		return err
	}
	return o.announce(ctx, e)
}

// phaseDone tells the listener how long a request has been in a phase.
func (o *outbox) phaseDone(e deletions.Entry, phase events.ErasurePhase, since deletions.State) {
	for _, change := range slices.Backward(e.History) {
		if change.State == since {
			o.listener.ErasurePhaseDone(events.ErasurePhaseDone{Phase: phase, Duration: o.clock.Now().Sub(change.At)})
			return
		}
	}
}

const (
	// laterRolls is how many markers follow a withdrawal for the sake of Apache
	// Kafka, which takes a segment to be old only when something is written after
	// segment.ms, a minute, and drops the tombstone in a later run. They are not
	// remembered over a restart: whatever is sent next does the same.
	laterRolls    = 3
	laterInterval = 70 * time.Second
)

// withdraw writes tombstones to a topic, and a marker behind them: the newest
// write of a partition is not compacted.
func (o *outbox) withdraw(ctx context.Context, topic bus.Topic, tombstones []ingest.Outgoing) error {
	if len(tombstones) == 0 {
		return nil
	}
	if err := o.bus.Write(ctx, topic, tombstones); err != nil {
		return fmt.Errorf("withdraw %d records: %w", len(tombstones), err)
	}
	if err := o.bus.RollMarkers(ctx, topic); err != nil {
		return err
	}
	o.rolls, o.rolled = laterRolls, o.clock.Now()
	return nil
}

// rollLater writes the markers that are due.
func (o *outbox) rollLater(ctx context.Context) error {
	if o.rolls == 0 || o.clock.Now().Sub(o.rolled) < laterInterval {
		return nil
	}
	o.rolls, o.rolled = o.rolls-1, o.clock.Now()
	return o.bus.RollMarkers(ctx, bus.Transactions, bus.Labels, bus.Erasures)
}
