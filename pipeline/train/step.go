package train

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/trainer"
)

// Each time that checkpoints are stored and published waits for the disk and the broker.
const (
	// trainedTogether is how many checkpoints are trained in between, if it takes no
	// longer because few models have more than one to train.
	trainedTogether = 16
	// bytesTogether is how many bytes of them a model trains in between however many
	// models there are, and at most trainedTogether.
	bytesTogether = 1 << 20
	// storedBeside is how many times as many models are under way as are trained at a time, unless
	// Options.UnderWay says otherwise.
	storedBeside = 2
)

// advance trains every model that has slices to train on, side by side, and then learns
// the meta-model over them. The checkpoints are stored with the mark that they have not
// been published.
func (l *logic) advance(ctx context.Context, now func() time.Time) error {
	var fits, continued []*model
	for _, m := range l.models {
		switch {
		case !l.owns(m.series) && !l.adoption.misses(m.series), !l.due(m):
		case m.fitsAnew():
			fits = append(fits, m)
		default:
			continued = append(continued, m)
		}
	}
	// Fits take longest, so they begin first.
	due := slices.Concat(fits, continued)
	if len(due) == 0 {
		return l.learnOver(ctx)
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
		// A replay goes on to its end, for nobody asks for what it makes on the way. Others go
		// on until the fits are ready: a processor would have nothing else to do.
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

// due reports whether a model has to be trained now. One that is trained again or fitted
// anew waits until no further slices are on their way, as far as can be told: a batch of
// requests replaces those of many timesteps, and each that comes late has everything
// after it trained once more.
func (l *logic) due(m *model) bool {
	t := m.next(m.newest())
	again := m.fitsAnew() || t <= m.replayThrough
	return t != lethe.NoTimestep && (!again || !l.unsettled())
}

// round is one call of advance.
type round struct {
	// least is how many checkpoints a model trains in between.
	least int
	// training holds one for each model that is being trained.
	training chan struct{}
	now      func() time.Time
}

// advanceModel trains a model through the next timesteps, so many if there are as many,
// and stores the checkpoints.
func (l *logic) advanceModel(ctx context.Context, m *model, r round) error {
	steps, last, err := r.train(ctx, l, m)
	if err != nil {
		return err
	}
	newest := m.newest()
	if err := m.keep(steps...); err != nil {
		return err
	}
	if m.newest() != newest {
		m.trained = last
	}
	return nil
}

// train trains a model through the next timesteps, once fewer models are trained than may be at a
// time. It returns what was learnt, and the last of it.
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

// trainStep trains a model on the window that ends at t.
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
	l.o.Listener.ShardTrained(events.ShardTrained{
		Model: l.o.Layout.Config(m.number).Model, Timestep: t, Reason: reason, Steps: step.Report.Steps,
		Duration: now().Sub(started),
	})
	return step.Checkpoint, nil
}

// learnOver learns the next meta-model.
func (l *logic) learnOver(ctx context.Context) error {
	if l.over == nil || !l.owns(l.over.series) && !l.adoption.misses(l.over.series) {
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
	return l.over.keep(made)
}

// publish sends of every model what it has to publish next.
// That they were sent is noted side by side: every note waits for the disk.
func (l *logic) publish(ctx context.Context) (role.Output, error) {
	var out role.Output
	var due []*series
	for i, s := range l.all() {
		if !s.unpublished() || !l.owns(s) {
			continue
		}
		place := l.columns.place
		if i < len(l.models) {
			place = l.models[i].shards.place
		}
		messages, err := s.due(place)
		if err != nil {
			return out, err
		}
		for _, m := range messages {
			if l.share != nil {
				m.Owner = l.share.ownerOf(l.shardOf(s.number))
			}
			out.Messages = append(out.Messages, m)
		}
		due = append(due, s)
	}
	out.Note = func() error {
		if err := l.runner.Each(ctx, len(due), func(_ context.Context, i int) error { return due[i].sent() }); err != nil {
			return err
		}
		return l.forgetFormer()
	}
	return out, nil
}
