package protocol

import (
	"context"
	"fmt"

	"lethe"
	"lethe/lab/measures"
	"lethe/partition/graph"
	"lethe/trainer"
)

// graphRun is the run of one ensemble on a citation graph, from the split of its
// nodes to what was measured.
type graphRun struct {
	g     *Graph
	s     Settings
	r     Runtime
	split Split
	// graph is all that training may see but for shared test nodes, and assignment
	// puts its nodes into shards.
	graph      *lethe.Snapshot
	assignment graph.Assignment
	// slices are what the shards train on, one per shard.
	slices []*lethe.Slice
	// owners holds the shard of every training node and -1 for the others.
	owners []int
	models *shardModels
	// full is the graph of all nodes, which is tested on.
	full trainer.Input
}

// RunGraph splits the graph, partitions and repairs the training graph, trains
// a model per shard and measures their ensemble on the graph of all nodes.
//
// Errors: settings out of bounds, or those of the partition, the trainer and
// the context, with coordinates.
func RunGraph(ctx context.Context, g *Graph, s Settings, r Runtime) (*Outcome, error) {
	t, err := newGraphRun(g, s, r)
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	if err := t.cut(ctx, out); err != nil {
		return nil, err
	}
	if err := t.train(ctx, out); err != nil {
		return nil, err
	}
	if err := t.measure(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// newGraphRun checks the settings and splits the nodes.
func newGraphRun(g *Graph, s Settings, r Runtime) (*graphRun, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if s.streamsOnly() {
		return nil, fmt.Errorf("settings: models that look at rows, blends and one-hop features are for streams, not for "+
			"model %q on a graph", s.Model)
	}
	return &graphRun{
		g: g, s: s, r: r, split: NewSplit(g.NumNodes(), s.TrainFraction, s.Seed),
		full: trainer.Input{Rows: g.NumNodes(), Cols: g.Columns, Features: g.Features, Edges: g.Edges}.Shared(),
	}, nil
}

// trainingGraph is what is partitioned: all that training may see but for shared test
// nodes.
func (t *graphRun) trainingGraph() *lethe.Snapshot {
	isTest := func(node int) bool { return t.split.isTest[node] }
	if !t.s.partitionsTest() {
		return t.g.snapshot(t.split.Train, isTest)
	}
	all := make([]int, t.g.NumNodes())
	for i := range all {
		all[i] = i
	}
	return t.g.snapshot(all, isTest)
}

// assign partitions the training graph.
func (t *graphRun) assign(ctx context.Context, out *Outcome) error {
	t.graph = t.trainingGraph()
	found := t.r.Partitions.get(t.partitionKey(), func(p *partitioned) {
		now := t.r.Now
		started := now()
		embedding, err := t.embedding(ctx)
		if err == nil {
			p.assignment, p.shape, err = t.s.assign(ctx, t.graph, t.g.Classes, embedding)
		}
		p.seconds, p.err = now().Sub(started).Seconds(), err
	})
	t.assignment, out.Shape, out.PartitionSeconds = found.assignment, found.shape, found.seconds
	return found.err
}

func (t *graphRun) partitionKey() partitionKey {
	return partitionKey{
		graph: t.g, transductive: t.s.partitionsTest(), trainFraction: t.s.TrainFraction,
		shards: t.s.Shards, partition: t.s.Partition, seed: t.s.Seed, epochs: t.s.Epochs,
	}
}

// cut partitions the training graph and repairs its shards.
func (t *graphRun) cut(ctx context.Context, out *Outcome) (err error) {
	if err := t.assign(ctx, out); err != nil {
		return err
	}
	t.own()
	t.slices, err = t.s.slices(t.graph, lethe.NoTimestep, t.assignment)
	for shard := range t.slices {
		t.slices[shard] = t.shareTest(t.slices[shard])
	}
	return err
}

// own notes which shard trains on which node's label.
func (t *graphRun) own() {
	t.owners = make([]int, t.g.NumNodes())
	for node := range t.owners {
		t.owners[node] = -1
	}
	for i, node := range t.split.Train {
		at := i
		if t.s.partitionsTest() {
			at = node
		}
		t.owners[node] = int(t.assignment[at])
	}
}

// train trains the shards side by side.
func (t *graphRun) train(ctx context.Context, out *Outcome) error {
	now := t.r.Now
	started := now()
	var err error
	if t.models, err = newShardModels(t.s, t.g.Classes, 1, trainer.Window, t.r); err != nil {
		return err
	}
	windows := make([][]*lethe.Slice, len(t.slices))
	for i, s := range t.slices {
		windows[i] = []*lethe.Slice{s}
	}
	if err := t.models.train(ctx, windows); err != nil {
		return err
	}
	out.TrainSeconds = (now().Sub(started) + t.models.earlier).Seconds()
	out.Steps = t.models.steps
	out.EnsembleHash, err = t.models.hash()
	return err
}

// measure asks the ensemble in every way the settings list.
func (t *graphRun) measure(ctx context.Context, out *Outcome) error {
	answers, err := t.models.ask(ctx, t.full)
	if err != nil {
		return err
	}
	for _, name := range t.s.Aggregate {
		by, err := t.combiner(ctx, name)
		if err != nil {
			return fmt.Errorf("aggregation %s: %w", name, err)
		}
		combined := by.Combine(answers.Shards, t.g.Classes, nil)
		reading, err := t.read(name, combined, combined)
		if err != nil {
			return err
		}
		out.Readings = append(out.Readings, reading)
		if !t.s.Propagate {
			continue
		}
		unseen, err := t.unseen(ctx, answers.Shards, by)
		if err != nil {
			return err
		}
		propagated, err := t.propagate(unseen)
		if err != nil {
			return err
		}
		if reading, err = t.read(name, propagated, combined); err != nil {
			return err
		}
		reading.Propagated = true
		out.Readings = append(out.Readings, reading)
	}
	if t.s.Propagate {
		reading, err := t.labelsAlone()
		if err != nil {
			return err
		}
		out.Readings = append(out.Readings, reading)
	}
	return nil
}

// read measures test nodes by one matrix of posteriors and training nodes by
// another, because propagation shows a training node its own label.
func (t *graphRun) read(aggregate string, test, training []float32) (Reading, error) {
	truth := make([]int, t.g.NumNodes())
	right := 0
	for part, posteriors := range [][]float32{training, test} {
		for node, class := range measures.MostLikely(posteriors, t.g.Classes) {
			if t.split.isTest[node] == (part == 1) && class == t.g.Labels[node] {
				right++
			}
		}
	}
	for node, class := range t.g.Labels {
		truth[node] = measures.NoClass
		if t.split.isTest[node] {
			truth[node] = class
		}
	}
	summary, err := measures.SummarisePosteriors(test, t.g.Classes, truth)
	if err != nil {
		return Reading{}, err
	}
	return Reading{Aggregate: aggregate, Test: summary, AllNodes: float64(right) / float64(t.g.NumNodes())}, nil
}
