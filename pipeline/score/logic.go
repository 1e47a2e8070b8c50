package score

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// search looks for what a command erases in everything that the role keeps.
type search func(ctx context.Context, c *wire.Command) (scan.Summary, error)

// logic is the role as a step function over one store.
type logic struct {
	o           Options
	runner      ensemble.Runner
	aggregation scoring.Aggregation
	state       *state
	search      search
	// erasures are the requests under way, by id.
	erasures map[string]*erasure
	// measured is set once what a crash left unmeasured has been measured.
	measured bool
}

// newLogic reads from the store where the role stands.
func newLogic(o Options, store role.Store, search search) (*logic, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	engine, err := trainer.NewEngine(o.Trainer, o.Kernels)
	if err != nil {
		return nil, err
	}
	aggregation, err := scoring.NewAggregation(o.Scoring.Aggregation, o.Scoring.Temperature)
	if err != nil {
		return nil, err
	}
	s, err := readState(store, o.Trainer, o.Shards)
	if err != nil {
		return nil, err
	}
	runner := ensemble.Runner{Engine: engine, Workers: o.Workers}
	return &logic{
		o: o, runner: runner, aggregation: aggregation, state: s, search: search, erasures: make(map[string]*erasure),
	}, nil
}

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic { return []bus.Topic{bus.Snapshots, bus.Models} }

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	return l.state.offset(source)
}

// Close implements role.Logic.
func (l *logic) Close() error { return l.state.store.Close() }

// Status implements role.Logic: predictions, their quality and the ensemble.
func (l *logic) Status() *role.Status {
	s := &role.Status{Steps: make(map[lethe.Timestep]role.Step)}
	if e := l.state.served; e != nil {
		s.Ensemble = &role.Ensemble{Version: e.Version, Through: e.Through}
	}
	for t, q := range l.state.quality {
		s.Steps[t] = role.Step{Predictions: q.predictions, Quality: q.summary}
	}
	return s
}

// Step implements role.Logic. Suppression takes effect before anything else is
// scored, and all that can be scored and swapped is before an erasure is
// acknowledged.
func (l *logic) Step(ctx context.Context, now func() time.Time, in role.Input) (role.Output, error) {
	if err := l.take(in); err != nil {
		return role.Output{}, err
	}
	if !l.measured {
		if err := l.measureMissing(); err != nil {
			return role.Output{}, err
		}
		l.measured = true
	}
	out, progressed, err := l.advance(ctx, now)
	if err != nil || progressed {
		return out, err
	}
	return l.acknowledge(ctx)
}

// take stores what has arrived.
func (l *logic) take(in role.Input) error {
	for _, m := range in.Messages {
		if err := l.takeMessage(in.Batch.Source, m); err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	return l.takeNotices(in.Notices)
}
