package ensemble

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/trainer"
	"lethe/trainer/column"
	"lethe/trainer/kernels"
)

// Runner trains and evaluates the models of an ensemble in parallel. It has no state and is safe
// for concurrent use.
type Runner struct {
	// Layout assigns models to engines; it is unused if there is one engine.
	Layout Layout
	// Engines are by component.
	Engines []*trainer.Engine
	// Workers bounds the models that are trained or evaluated at a time; at least 1. Results do
	// not depend on it.
	Workers int
}

// NewRunner returns a runner for the models of a layout. The error is that of
// Layout.Validate.
func NewRunner(layout Layout, set kernels.Set, workers int) (Runner, error) {
	if err := layout.Validate(); err != nil {
		return Runner{}, err
	}
	r := Runner{Layout: layout, Workers: workers}
	for _, c := range layout.Components {
		engine, err := trainer.NewEngine(c.Config, set)
		if err != nil {
			return Runner{}, err
		}
		r.Engines = append(r.Engines, engine)
	}
	return r, nil
}

// Engine returns the engine of a model.
func (r Runner) Engine(model lethe.ShardID) *trainer.Engine {
	if len(r.Engines) == 1 {
		return r.Engines[0]
	}
	component, _ := r.Layout.Place(model)
	return r.Engines[component]
}

// Column returns a model's column.
func (r Runner) Column(model lethe.ShardID) column.Column {
	return column.Column{Engine: r.Engine(model), Shard: model}
}

// Each calls f for 0 to n-1, at most Workers of them at a time, and returns the
// first error. The context that f gets ends with it.
func (r Runner) Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.Workers)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// Train trains every shard from fresh weights on all slices of its column, oldest first, and
// returns the newest checkpoints. Errors are those of column.Newest; a shard without slices is an
// error that wraps trainer.ErrInvalidSlice.
func (r Runner) Train(ctx context.Context, columns [][]*lethe.Slice) (*Ensemble, error) {
	models := make([]*trainer.Checkpoint, len(columns))
	err := r.Each(ctx, len(columns), func(ctx context.Context, shard int) (err error) {
		models[shard], err = r.Column(lethe.ShardID(shard)).Newest(ctx, nil, columns[shard])
		return err
	})
	if err != nil {
		return nil, err
	}
	return Of(models, nil)
}

// Advance makes one step in every column that has a window, from the previous models, which may be
// nil. A shard without a window is not trained: its step has the previous model and an empty
// report.
func (r Runner) Advance(
	ctx context.Context, models []*trainer.Checkpoint, windows [][]*lethe.Slice,
) ([]column.Step, error) {
	steps := make([]column.Step, len(models))
	err := r.Each(ctx, len(models), func(ctx context.Context, shard int) (err error) {
		steps[shard].Checkpoint = models[shard]
		if len(windows[shard]) > 0 {
			steps[shard], err = r.Column(lethe.ShardID(shard)).Advance(ctx, models[shard], windows[shard])
		}
		return err
	})
	return steps, err
}
