package protocol

import (
	"context"
	"fmt"

	"lethe"
	"lethe/dataset"
	"lethe/lab/measures"
	"lethe/partition/onehop"
	"lethe/scoring/ensemble"
	"lethe/scoring/quality"
	"lethe/trainer"
)

// classesOfStream are licit and illicit.
const classesOfStream = 2

// threshold is the probability from which a transaction counts as illicit.
const threshold = 0.5

// streamRun is the run of one ensemble through a stream.
type streamRun struct {
	s      StreamSettings
	r      Runtime
	models *shardModels
	// steps are the snapshots and windows what each shard learnt from, oldest
	// first.
	steps   []*lethe.Snapshot
	windows [][]*lethe.Slice
	// validation collects posteriors and labels that learned weights are fitted
	// on, and tunings, one per aggregation, what propagation is tuned on.
	validation       [][]float32
	validationLabels []int
	tunings          []tuning
	// tallies grow with every timestep, one per reading.
	tallies []*measures.Tally
	shapes  []Shape
	out     *Outcome
}

// RunStream goes through the first timesteps of a stream, as many as the split
// has, and measures every scored timestep. It never scores a timestep by a model
// that saw a label of it, but for the training timesteps under Static.
//
// Errors: settings out of bounds, a stream shorter than the split, or those of
// the partition, the trainer and the context, with coordinates.
func RunStream(ctx context.Context, stream *dataset.Stream, s StreamSettings, r Runtime) (*Outcome, error) {
	j, err := newStreamRun(stream, s, r)
	if err != nil {
		return nil, err
	}
	if err := j.run(ctx); err != nil {
		return nil, err
	}
	return j.finish()
}

// newStreamRun checks the settings and builds the snapshots.
func newStreamRun(stream *dataset.Stream, s StreamSettings, r Runtime) (*streamRun, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if have, want := len(stream.Steps), s.Split.Total(); have < want {
		return nil, fmt.Errorf("split %s wants %d timesteps, the stream has %d", s.Split, want, have)
	}
	j := &streamRun{s: s, r: r, out: &Outcome{}, windows: make([][]*lethe.Slice, s.Shards)}
	for i := range s.Split.Total() {
		j.steps = append(j.steps, SnapshotOf(lethe.Secret{}, &stream.Steps[i], stream.FeatureCount))
	}
	for _, name := range s.Aggregate {
		j.out.Readings = append(j.out.Readings, Reading{Aggregate: name})
		if s.Propagate {
			j.out.Readings = append(j.out.Readings,
				Reading{Aggregate: name, Propagated: true}, Reading{Aggregate: name, Propagated: true, Unlabelled: true})
		}
	}
	for range j.out.Readings {
		j.tallies = append(j.tallies, &measures.Tally{})
	}
	j.tunings = make([]tuning, len(s.Aggregate))
	return j, nil
}

// readingsEach is how many readings an aggregation has: the plain one and, if
// asked for, the propagated one and its control behind it.
func (j *streamRun) readingsEach() int { return len(j.out.Readings) / len(j.s.Aggregate) }

// run goes through the timesteps in order.
func (j *streamRun) run(ctx context.Context) (err error) {
	schedule, window := j.s.Schedule, j.s.WindowTimesteps
	if j.s.Schedule == Static {
		schedule, window = Window, j.s.Split.Train
	}
	if j.models, err = newShardModels(j.s.Settings, classesOfStream, window, schedule, j.r); err != nil {
		return err
	}
	if j.s.Schedule != Static {
		for i := range j.steps {
			if i > j.s.firstLearnt() {
				if err := j.score(ctx, i); err != nil {
					return err
				}
			}
			if i+1 < len(j.steps) {
				if err := j.learn(ctx, i, window, i >= j.s.firstLearnt()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i := range j.s.Split.Train {
		if err := j.learn(ctx, i, window, i+1 == j.s.Split.Train); err != nil {
			return err
		}
	}
	for i := range j.steps {
		if err := j.score(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// learn cuts a timestep into slices and, if it is time to, trains on the window
// that ends with it.
func (j *streamRun) learn(ctx context.Context, index, window int, train bool) error {
	now := j.r.Now
	started := now()
	snap := j.steps[index]
	a, shape, err := j.s.assign(ctx, snap, classesOfStream, nil)
	if err != nil {
		return err
	}
	j.out.PartitionSeconds += now().Sub(started).Seconds()
	shape.Sizes = nil
	j.shapes = append(j.shapes, shape)
	previous := lethe.NoTimestep
	if index > 0 {
		previous = j.steps[index-1].Timestep
	}
	cut, err := j.s.slices(snap, previous, a)
	if err != nil {
		return err
	}
	for shard, slice := range cut {
		j.windows[shard] = append(j.windows[shard], slice)
		j.windows[shard] = j.windows[shard][max(0, len(j.windows[shard])-window):]
	}
	if !train {
		return nil
	}
	started = now()
	err = j.models.train(ctx, j.windows)
	j.out.TrainSeconds += now().Sub(started).Seconds()
	return err
}

// score asks the ensemble about a timestep and measures every reading on the
// labels that had not arrived.
func (j *streamRun) score(ctx context.Context, index int) error {
	snap, part := j.steps[index], j.s.Split.part(index)
	arrived := j.s.arrived(snap)
	posteriors, answers, err := j.answer(ctx, index, arrived)
	if err != nil {
		return fmt.Errorf("timestep %d: %w", snap.Timestep, err)
	}
	measured := labelsOf(snap)
	for i := range measured {
		if arrived[i] {
			measured[i] = lethe.Unknown
		}
	}
	for k, rows := range answers {
		illicit := ensemble.Illicit(rows)
		for i, label := range measured {
			j.tallies[k].Add(snap.Timestep, illicit[i], label)
		}
		j.out.Readings[k].PerStep = append(j.out.Readings[k].PerStep,
			StepReading{Timestep: snap.Timestep, Part: part, Summary: quality.Summarise(illicit, measured, threshold)})
	}
	if part == "validation" {
		j.keep(posteriors, labelsOf(snap))
		for k := range j.tunings {
			j.tunings[k].add(snap, answers[k*j.readingsEach()], arrived)
		}
	}
	return nil
}

// answer returns what every shard says of a timestep, and per reading what the
// shards say together; rows of classes both.
func (j *streamRun) answer(ctx context.Context, index int, arrived []bool) (
	posteriors, answers [][]float32, err error,
) {
	snap := j.steps[index]
	in := trainer.InputOf(onehop.ModeOf(j.s.OneHop, j.s.OneHopDirected).Join(snap))
	said, err := j.models.ask(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	for k, name := range j.s.Aggregate {
		by, err := j.combiner(name, in)
		if err != nil {
			return nil, nil, fmt.Errorf("aggregation %s: %w", name, err)
		}
		rows := by.Combine(said.Shards, classesOfStream, nil)
		answers = append(answers, rows)
		if !j.s.Propagate {
			continue
		}
		spread, control := rows, rows
		if j.s.Split.part(index) == "test" {
			if spread, control, err = j.tunings[k].propagate(snap, rows, arrived); err != nil {
				return nil, nil, fmt.Errorf("aggregation %s: propagation: %w", name, err)
			}
		}
		answers = append(answers, spread, control)
	}
	return said.Shards, answers, nil
}

// labelsOf returns the labels of a snapshot's nodes.
func labelsOf(snap *lethe.Snapshot) []lethe.Label {
	labels := make([]lethe.Label, len(snap.Nodes))
	for i, n := range snap.Nodes {
		labels[i] = n.Label
	}
	return labels
}

// finish sums up.
func (j *streamRun) finish() (_ *Outcome, err error) {
	last := j.steps[len(j.steps)-1].Timestep
	firstTest := j.steps[j.s.Split.Train+j.s.Split.Validation].Timestep
	for k := range j.out.Readings {
		if j.out.Readings[k].Propagated {
			j.out.Readings[k].Propagation = j.tunings[k/j.readingsEach()].choice
		}
		j.out.Readings[k].Test = j.tallies[k].Summarise(firstTest, last, threshold)
		j.out.Readings[k].AllNodes = j.tallies[k].Summarise(0, last, threshold).Accuracy
	}
	j.out.Shape = meanShape(j.shapes)
	j.out.Steps = j.models.steps
	j.out.TrainSeconds += j.models.earlier.Seconds()
	j.out.EnsembleHash, err = j.models.hash()
	return j.out, err
}

// meanShape sums nodes and edges and averages the scores.
func meanShape(shapes []Shape) Shape {
	var sum Shape
	for _, s := range shapes {
		sum.Nodes += s.Nodes
		sum.Edges += s.Edges
		sum.Balance += s.Balance
		sum.Fairness += s.Fairness
		sum.EdgeCut += s.EdgeCut
		sum.ShardsPerErasure += s.ShardsPerErasure
	}
	if n := float64(len(shapes)); n > 0 {
		sum.Balance, sum.Fairness = sum.Balance/n, sum.Fairness/n
		sum.EdgeCut, sum.ShardsPerErasure = sum.EdgeCut/n, sum.ShardsPerErasure/n
	}
	return sum
}
