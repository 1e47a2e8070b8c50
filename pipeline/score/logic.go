package score

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// logic is the part of the role that leader and standby share.
type logic struct {
	o         Options
	predictor predictor
	state     *state
	// explaining makes reasons.
	explaining explaining
	// arrivals is nil if transactions are not scored before their timestep closes.
	arrivals *arrivals
	// lastServed is the newest entry of its kind in the journal.
	lastServed journal.Served
	erasing    *erasing
}

// newLogic reads the state from the store.
func newLogic(o Options, store role.Store) (*logic, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	predictor, err := newPredictor(o)
	if err != nil {
		return nil, err
	}
	l := &logic{o: o, predictor: predictor, lastServed: journal.Served{Through: lethe.NoTimestep}}
	if err := newModels(store, o.Layout, o.Meta).forgetOthers(); err != nil {
		return nil, fmt.Errorf("forget models of other components: %w", err)
	}
	if l.state, err = readState(store, o.Layout, o.Meta); err != nil {
		return nil, err
	}
	if l.explaining, err = newExplaining(o, l.state); err != nil {
		return nil, err
	}
	if l.arrivals, err = newArrivals(o); err != nil {
		return nil, err
	}
	if err := l.arrivals.resume(l.state); err != nil {
		return nil, err
	}
	l.erasing = newErasing(o, l.state, &l.explaining, l.arrivals)
	targets, features, subjects := l.state.hidden.list()
	l.arrivals.suppress(targets, features, subjects...)
	if err := l.compareAll(); err != nil {
		return nil, err
	}
	return l, l.arrivals.serve(l.state.models.served)
}

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic { return []bus.Topic{bus.Snapshots, bus.Models} }

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	return offsetOf(l.state.store, source)
}

// Close implements role.Logic.
func (l *logic) Close() error { return l.state.store.Close() }

// Status implements role.Logic: predictions, their quality and the ensemble.
func (l *logic) Status() *role.Status {
	s := &role.Status{Steps: make(map[lethe.Timestep]role.Step), ReasonsPending: l.explaining.owed()}
	if e := l.state.models.served; e != nil {
		s.Ensemble = &role.Ensemble{Version: e.Version, Through: e.Through}
	}
	if t := l.state.awaited(l.o.Scoring.LabelLagTimesteps); t != lethe.NoTimestep {
		s.Awaited = l.state.awaitedModels(t)
	}
	for t, q := range l.state.quality {
		s.Steps[t] = role.Step{Predictions: q.predictions, Quality: q.summary}
	}
	return s
}

// take stores an input. The offset is stored with a message that changes the state, or with the last one: a replay has
// a model for every timestep, and one of them is served.
func (l *logic) take(ctx context.Context, in role.Input) error {
	source, skipped := in.Batch.Source, int64(-1)
	for _, m := range in.Messages {
		if !wanted(l.state, l.erasing.requests.Open, m) {
			skipped = m.Next
			continue
		}
		skipped = -1
		err := l.takeMessage(ctx, source, m)
		if errors.Is(err, wire.ErrPayload) {
			l.o.PassOver(roleName, source.Topic, m)
		} else if err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	if skipped >= 0 {
		if err := storeOffset(l.state.store, source, skipped); err != nil {
			return fmt.Errorf("note how far %s was read: %w", source, err)
		}
	}
	return l.erasing.take(in.Notices)
}

// takeNamed processes the records of an entry, and stores its offset behind commands.
func (l *logic) takeNamed(ctx context.Context, in role.Input) error {
	err := l.take(ctx, in)
	if err == nil && in.Batch.Source.Topic == bus.Control {
		err = storeOffset(l.state.store, in.Batch.Source, in.Batch.Next)
	}
	return err
}
