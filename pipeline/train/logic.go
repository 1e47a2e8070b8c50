package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// logic is the role as a step function.
type logic struct {
	*learners
	o      Options
	runner ensemble.Runner
	quiet  quiet
	// erasures are the open requests by id.
	erasures role.Erasures[struct{}]
	// refreshed: the stored checkpoints are compatible.
	refreshed bool
	adoption  *adoption
}

func newLogic(o Options) (*logic, error) {
	runner, err := ensemble.NewRunner(o.Layout, o.Kernels, o.Workers)
	if err != nil {
		return nil, err
	}
	if o.First != nil {
		for _, engine := range runner.Engines {
			engine.Observe(func(trainer.Progress) { o.First.Give(context.Background()) })
		}
	}
	return &logic{
		learners: &learners{layout: o.Layout, meta: o.Meta, dir: o.Dir, kernels: o.Kernels.Name, served: lethe.NoTimestep},
		o:        o, runner: runner,
		erasures: role.Erasures[struct{}]{
			Role: roleName, Instance: o.Instance, Run: o.Run, Secret: o.Secret, Rewriting: true,
		},
		quiet: quiet{unread: make(map[int]bool)},
	}, nil
}

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic {
	return l.share.topics()
}

// Resume implements role.Logic: the oldest position of the partition's shards.
func (l *logic) Resume(source bus.TopicPartition, count int) (int64, error) {
	position, found := bus.FromStart, false
	if source.Topic != bus.Slices {
		return position, nil // models.v1 is short
	}
	for _, c := range l.columns {
		if wire.PartitionOf(c.shard, count) == source.Partition && (!found || c.offset < position) {
			position, found = c.offset, true
		}
	}
	l.share.units, l.share.read[source] = count, max(0, position)
	return position, nil
}

// Status implements role.Logic.
func (l *logic) Status() *role.Status { return &role.Status{} }

// Close implements role.Logic.
func (l *logic) Close() error {
	var errs []error
	for _, c := range l.columns {
		errs = append(errs, c.store.Close())
	}
	l.columns = nil
	return errors.Join(errs...)
}

// Step implements role.Logic. It stores arriving slices first, and publishes trained models before it trains more.
// Erasures are acknowledged when all models are trained.
func (l *logic) Step(ctx context.Context, now func() time.Time, in role.Input) (role.Output, error) {
	if err := l.take(in); err != nil {
		return role.Output{}, err
	}
	if !l.refreshed {
		if err := l.refresh(); err != nil {
			return role.Output{}, err
		}
		l.refreshed = true
	}
	if err := l.dropUnneeded(); err != nil {
		return role.Output{}, err
	}
	if l.quiet.arriving() {
		return role.Output{Idle: true}, nil
	}
	if err := l.settle(ctx); err != nil {
		return role.Output{}, err
	}
	out, err := l.publish()
	if err == nil && len(out.Messages) == 0 {
		if err = l.advance(ctx, now); err == nil {
			out, err = l.publish()
		}
	}
	if err != nil || len(out.Messages) > 0 {
		return out, err
	}
	if out, err := l.erasures.Acknowledge(ctx, l.acknowledge); err != nil || !out.Idle {
		return out, err
	}
	return l.commit()
}

// settle takes over models, and adopts those of others.
func (l *logic) settle(ctx context.Context) error {
	took, err := l.share.settle(ctx)
	if err == nil && took {
		err = l.readTopic(ctx)
	}
	if err == nil && l.o.Sharer != nil {
		err = l.adoption.adopt(ctx)
	}
	return err
}

// take processes an input.
func (l *logic) take(in role.Input) error {
	if in.Ticked {
		l.quiet.ticked()
	}
	l.quiet.read(in.Batch)
	take := l.takeSlices
	l.share.take(in)
	if in.Batch.Source.Topic == bus.Models {
		take = l.adoption.take
	}
	if err := take(in); err != nil {
		return err
	}
	if err := l.takeNotices(in); err != nil {
		return err
	}
	if len(in.Messages)+len(in.Notices) > 0 {
		l.quiet.announced(l.commands(), l.inPlace)
	}
	return nil
}

// takeSlices stores slices, by shard.
func (l *logic) takeSlices(in role.Input) error {
	commands := l.commands()
	for _, m := range in.Messages {
		if isGone(commands, m) {
			continue
		}
		// Graphs has the same number of shards.
		err := wire.ErrPayload
		replaced := false
		if m.Key.Kind == wire.KindSlice && int(m.Key.Shard) < len(l.columns) {
			replaced, err = l.columns[m.Key.Shard].accept(m)
		}
		if replaced || l.columns.upTo(l.served) != l.served {
			l.quiet.changed(m.Key)
		}
		if errors.Is(err, wire.ErrPayload) {
			l.o.PassOver(roleName, in.Batch.Source.Topic, m)
		} else if err != nil {
			return err
		}
	}
	for _, c := range l.columns {
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

// refresh drops checkpoints of other options or kernels: served models must follow from the slices under the present
// ones.
func (l *logic) refresh() error {
	for _, m := range l.models {
		if m.trained == nil {
			continue
		}
		err := l.runner.Engine(m.number).Compatible(m.trained)
		if err == nil {
			continue
		}
		if !errors.Is(err, trainer.ErrIncompatible) {
			return fmt.Errorf("model %d: checkpoint after timestep %d: %w", m.number, m.newest(), err)
		}
		l.o.Logger.Warn("checkpoints cannot be continued: training the model anew from its slices",
			"model", m.number, "slices", len(m.shards[0].timesteps), "reason", err)
		if err := m.forget(); err != nil {
			return err
		}
		if l.over != nil {
			if err := l.over.unlearn(0); err != nil {
				return err
			}
		}
	}
	return nil
}
