package train

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/trainer"
)

// Storing and publishing waits for disk and broker.
const (
	// trainedTogether is the number of checkpoints in between, when few models have more than one.
	trainedTogether = 16
	// bytesTogether is the size trained in between by any number of models, up to trainedTogether.
	bytesTogether = 1 << 20
	// storedBeside is the default of Options.UnderWay over Workers.
	storedBeside = 2
)

// advance trains every due model in parallel, then the meta-model.
func (l *logic) advance(ctx context.Context, now func() time.Time) error {
	var fits, continued []*model
	for _, m := range l.models {
		switch {
		case !l.owns(m.number), !l.due(m):
		case m.fitsAnew():
			fits = append(fits, m)
		default:
			continued = append(continued, m)
		}
	}
	// Fits take longest.
	due := slices.Concat(fits, continued)
	if len(due) == 0 {
		return l.advanceMeta(ctx)
	}
	var fitting atomic.Int64
	fitting.Store(int64(len(fits)))
	round := round{least: trainedTogether / len(due), training: make(chan struct{}, l.runner.Workers), now: now}
	underWay := l.runner
	underWay.Workers = l.o.UnderWay
	return underWay.Each(ctx, len(due), func(ctx context.Context, i int) error {
		if i < len(fits) {
			defer fitting.Add(-1)
			return l.advanceModel(ctx, due[i], round)
		}
		// A replay runs to its end, because its steps are not served. Other models continue until the fits are done.
		m := due[i]
		for {
			if err := l.advanceModel(ctx, m, round); err != nil {
				return err
			}
			if !l.due(m) || fitting.Load() == 0 && m.newest() >= m.replayThrough {
				return nil
			}
		}
	})
}

// due reports whether to train a model now. Retraining and fits wait until no more slices are expected: each late
// one would repeat everything behind it.
func (l *logic) due(m *model) bool {
	t := m.next(m.newest())
	again := m.fitsAnew() || t <= m.replayThrough
	return t != lethe.NoTimestep && (!again || l.quiet.is())
}

type round struct {
	// least is the number of checkpoints trained in between.
	least int
	// training has an element per model in training.
	training chan struct{}
	now      func() time.Time
}

// advanceModel trains and stores the next checkpoints of a model.
func (l *logic) advanceModel(ctx context.Context, m *model, r round) error {
	steps, last, err := r.train(ctx, l, m)
	if err != nil {
		return err
	}
	newest := m.newest()
	if err := m.keep(false, steps...); err != nil {
		return err
	}
	if m.newest() != newest {
		m.trained = last
	}
	return nil
}

// train trains the next checkpoints of a model when a worker is free, and returns them and the last.
func (r round) train(ctx context.Context, l *logic, m *model) ([]learnt, *trainer.Checkpoint, error) {
	r.training <- struct{}{}
	defer func() { <-r.training }()
	var steps []learnt
	at, before, last, size := m.newest(), m.trained, m.trained, 0
	most := trainedTogether
	if m.fitsAnew() {
		most = 1
	}
	for len(steps) < most && (len(steps) < r.least || size < bytesTogether) {
		t := m.next(at)
		if t == lethe.NoTimestep {
			break
		}
		checkpoint, err := l.trainStep(ctx, m, before, t, r.now)
		if err != nil {
			return nil, nil, err
		}
		if at, before = t, checkpoint; !m.wants(t) {
			continue
		}
		value := trainer.EncodeCheckpoint(checkpoint)
		steps, size = append(steps, learnt{t, value, checkpoint.Lineage}), size+len(value)
		last = checkpoint
	}
	return steps, last, nil
}

// trainStep trains on the window up to t.
func (l *logic) trainStep(
	ctx context.Context, m *model, before *trainer.Checkpoint, t lethe.Timestep, now func() time.Time,
) (*trainer.Checkpoint, error) {
	l.o.First.Give(ctx)
	started := now()
	window, err := m.window(t)
	if err != nil {
		return nil, fmt.Errorf("model %d timestep %d: %w", m.number, t, err)
	}
	if m.fitsAnew() {
		before = nil
	}
	step, err := l.runner.Column(m.number).Advance(ctx, before, window)
	if err != nil {
		return nil, fmt.Errorf("train model %d through timestep %d: %w", m.number, t, err)
	}
	reason := events.Update
	if t <= m.replayThrough {
		reason = events.Unlearn
	}
	l.o.Listener(events.ShardTrained{
		Model: l.o.Layout.Config(m.number).Model, Timestep: t, Reason: reason, Steps: step.Report.Steps,
		Duration: now().Sub(started),
	})
	return step.Checkpoint, nil
}

func (l *logic) advanceMeta(ctx context.Context) error {
	if l.over == nil || !l.owns(l.over.number) {
		return nil
	}
	t := l.over.next()
	if t == lethe.NoTimestep {
		return nil
	}
	made, err := l.over.learn(ctx, l.runner, t)
	if err != nil {
		return err
	}
	return l.over.keep(false, made)
}
