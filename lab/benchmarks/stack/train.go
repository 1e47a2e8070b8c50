package main

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/internal/cputime"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/column"
	"lethe/trainer/kernels"
)

// trained is a component with the models of its groups.
type trained struct {
	component
	runner ensemble.Runner
	models []*trainer.Checkpoint
	// columns are the slices of every group so far, oldest first.
	columns [][]*lethe.Slice
	// last is the processor time of every group at the last timestep that was
	// trained, and total that of all groups and timesteps.
	last  []time.Duration
	total time.Duration
}

func newTrained(c component) (*trained, error) {
	engine, err := trainer.NewEngine(c.config, kernels.Default())
	if err != nil {
		return nil, fmt.Errorf("component %q: %w", c.name, err)
	}
	return &trained{
		component: c,
		// One after the other, so that the processor time is that of a group.
		runner: ensemble.Runner{Engines: []*trainer.Engine{engine}, Workers: 1},
		models: make([]*trainer.Checkpoint, c.groups), columns: make([][]*lethe.Slice, c.groups),
		last: make([]time.Duration, c.groups),
	}, nil
}

// learn takes in the slices of a timestep. Models that go on from their last state
// are trained; those that are fitted anew only if they will be asked.
func (t *trained) learn(ctx context.Context, s *step, asked bool) error {
	unions, err := s.view(t.component).groups(t.groups, t.first)
	if err != nil {
		return err
	}
	for g, union := range unions {
		t.columns[g] = append(t.columns[g], union)
		before := cputime.Used()
		if !asked && t.config.Schedule == trainer.Window {
			continue
		}
		window := column.Window(t.config, t.columns[g])
		made, err := t.runner.Column(lethe.ShardID(t.first+g)).Advance(ctx, t.models[g], window)
		if err != nil {
			return fmt.Errorf("component %q: %w", t.name, err)
		}
		t.models[g] = made.Checkpoint
		t.last[g] = cputime.Used() - before
		t.total += t.last[g]
	}
	return nil
}

// nobody is the group that ask leaves out where all are asked.
const nobody = -1

// ask returns the probability of illicit that every group's model but that of one group gives every node of a graph.
func (t *trained) ask(ctx context.Context, whole trainer.Input, without int) ([][]float64, error) {
	said := make([][]float64, 0, t.groups)
	for g, model := range t.models {
		if g == without {
			continue
		}
		posteriors, err := t.runner.Engine(0).Probabilities(ctx, model, whole)
		if err != nil {
			return nil, fmt.Errorf("component %q: group %d: %w", t.name, g, err)
		}
		said = append(said, ensemble.Illicit(posteriors))
	}
	return said, nil
}
