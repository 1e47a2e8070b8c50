package main

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/demo"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
)

// run is one way through a stream.
type run struct {
	cli   *cli
	rules meta.Config
	steps []*step
	// undivided are the steps as one shard, and wholes a model of every component that
	// learns from them and is asked instead of its groups; both only with cli.Whole.
	undivided  []*step
	wholes     []*trained
	components []*trained
	readings   []*reading
	// ensembles are the readings that ensembles are served by: the stack, or the
	// component where there is one.
	ensembles []int
}

// newRun reads and cuts the stream.
func newRun(ctx context.Context, c *cli, rule decision.Rule) (*run, error) {
	if c.From < 2 || c.To < c.From || c.Window < 1 {
		return nil, fmt.Errorf("timesteps %d to %d with a window of %d: want from at least 2, to at least from, and 1",
			c.From, c.To, c.Window)
	}
	r := &run{cli: c, rules: meta.Defaults()}
	r.rules.Timesteps, r.rules.Threshold = c.Window, rule
	r.rules.Stack.L2, r.rules.Calibration.Method = c.Pull, c.Calibrate
	all, ensembles, err := parseEnsembles(c.Components, c.Shards, c.Seed)
	if err != nil {
		return nil, err
	}
	for i, one := range all {
		t, err := newTrained(one)
		if err != nil {
			return nil, err
		}
		r.components = append(r.components, t)
		r.readings = append(r.readings, &reading{name: one.name, members: []int{i}})
	}
	for i, members := range ensembles {
		if len(members) > 1 {
			name := fmt.Sprintf(" %d", i+1)
			r.readings = append(r.readings, &reading{name: "mean logit" + name, members: members},
				&reading{name: "stack" + name, members: members, weighed: true})
			r.ensembles = append(r.ensembles, len(r.readings)-1)
		} else {
			r.ensembles = append(r.ensembles, members[0])
		}
	}
	stream, err := readStream(ctx, c.Dataset, c.To)
	if err != nil {
		return nil, err
	}
	cut := cutter{demo.SecretOf(c.Seed), c.Shards, c.Seed, c.Method, c.Refine}
	if r.steps, err = cut.stream(ctx, stream); err != nil || !c.Whole {
		return r, err
	}
	for _, one := range all {
		one.name, one.groups, one.first = one.name+", whole", 1, 0
		t, err := newTrained(one)
		if err != nil {
			return nil, err
		}
		r.wholes = append(r.wholes, t)
	}
	cut.shards = 1
	r.undivided, err = cut.stream(ctx, stream)
	return r, err
}

// through scores and learns, timestep by timestep. The last timestep is scored only.
func (r *run) through(ctx context.Context) error {
	for i, s := range r.steps {
		if i+1 >= r.cli.From {
			if err := r.score(ctx, s); err != nil {
				return err
			}
		}
		if i+1 == len(r.steps) {
			break
		}
		// The models after this timestep score the next one.
		asked := i+2 >= r.cli.From
		for _, t := range r.components {
			if err := t.learn(ctx, s, asked); err != nil {
				return err
			}
		}
		for _, t := range r.wholes {
			if err := t.learn(ctx, r.undivided[i], asked); err != nil {
				return err
			}
		}
		if asked {
			if err := r.learn(ctx, r.steps[max(0, i+1-r.cli.Window):i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// learn learns every reading's combination from the last timesteps, of each node by
// the groups that do not hold it.
func (r *run) learn(ctx context.Context, window []*step) error {
	all := stack.Rows{Components: len(r.components)}
	for _, s := range window {
		logits := make([][]float64, len(r.components))
		for k, t := range r.components {
			var err error
			if logits[k], err = t.outOfGroup(ctx, s); err != nil {
				return err
			}
		}
		add(&all, logits, s.labels)
	}
	for _, reading := range r.readings {
		var err error
		if reading.learnt, err = learn(r.rules, rowsOf(all, reading.members), reading.weighed); err != nil {
			return fmt.Errorf("%s: %w", reading.name, err)
		}
	}
	return nil
}

// score scores a timestep with what was learnt before it.
func (r *run) score(ctx context.Context, s *step) error {
	served := r.components
	if r.cli.Whole {
		served = r.wholes
	}
	logits := make([][]float64, len(served))
	for k, t := range served {
		said, err := t.ask(ctx, s.view(t.component).graph, nobody)
		if err != nil {
			return err
		}
		logits[k] = stack.MeanLogits(said)
	}
	for _, reading := range r.readings {
		of := make([][]float64, len(reading.members))
		for i, k := range reading.members {
			of[i] = logits[k]
		}
		reading.count(s, of, r.rules.Threshold)
	}
	return nil
}

// names returns the components of a reading.
func (r *run) names(of *reading) []string {
	var out []string
	for _, k := range of.members {
		out = append(out, r.components[k].name)
	}
	return slices.Clip(out)
}

// span returns the timesteps that are measured.
func (r *run) span() (first, last lethe.Timestep) {
	return r.steps[r.cli.From-1].timestep, r.steps[len(r.steps)-1].timestep
}
