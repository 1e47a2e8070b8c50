package protocol

import (
	"context"
	"fmt"

	"lethe"
	"lethe/lab/networks"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/repair"
	"lethe/trainer"
)

// EmbeddingSAGE clusters, for bekm, the hidden layer of a GraphSAGE that is
// trained on the whole training graph, as GraphEraser does.
const EmbeddingSAGE = "sage"

// embeddingColumns is the width of that layer in GraphEraser.
const embeddingColumns = 256

// embedding trains the GraphSAGE if the settings ask for it.
func (t *graphRun) embedding(ctx context.Context) (*kmeans.Points, error) {
	if t.s.Partition.Embedding != EmbeddingSAGE {
		return nil, nil
	}
	s := Defaults(networks.SAGE)
	s.Hidden, s.Epochs, s.Seed = embeddingColumns, t.s.Epochs, t.s.Seed
	r := t.r
	r.Epoch, r.Resumed = nil, nil
	encoder, err := newShardModels(s, t.g.Classes, 1, trainer.Window, r)
	if err != nil {
		return nil, err
	}
	whole, err := repair.OneSlice(t.graph, lethe.NoTimestep, make(graph.Assignment, len(t.graph.Nodes)), 1, 0,
		repair.Config{Method: repair.None, Tau: 1})
	if err != nil {
		return nil, err
	}
	if err := encoder.train(ctx, [][]*lethe.Slice{{whole}}); err != nil {
		return nil, fmt.Errorf("encoder of the nodes: %w", err)
	}
	return hiddenLayer(encoder.models[0], trainer.InputOf(t.graph)), nil
}

// hiddenLayer returns relu(mean of neighbours · W_l + b + x · W_r), the output of
// GraphSAGE's first convolution, for every node.
func hiddenLayer(c *trainer.Checkpoint, in trainer.Input) *kmeans.Points {
	layout, _ := networks.All().Tensors(c.Architecture)
	width := c.Architecture.Widths[0]
	tensor := func(name string) []float32 {
		i, _ := layout.Index(name)
		spec := layout.Specs[i]
		return c.Params[spec.From : spec.From+spec.Size]
	}
	left, bias, right := tensor("conv1.lin_l.weight"), tensor("conv1.lin_l.bias"), tensor("conv1.lin_r.weight")
	around, out := project(in, left, width), project(in, right, width)
	degree := make([]float64, in.Rows)
	for _, e := range in.Edges {
		degree[e.A]++
		degree[e.B]++
	}
	add := func(to, from uint32) {
		row, neighbour := out[int(to)*width:][:width], around[int(from)*width:][:width]
		for j, v := range neighbour {
			row[j] += v / degree[to]
		}
	}
	for _, e := range in.Edges {
		add(e.A, e.B)
		add(e.B, e.A)
	}
	for p := range out {
		out[p] = max(0, out[p]+float64(bias[p%width]))
	}
	return &kmeans.Points{Columns: width, Values: out}
}

// project returns the features times a matrix of features × width; most features
// are 0.
func project(in trainer.Input, matrix []float32, width int) []float64 {
	out := make([]float64, in.Rows*width)
	for p, x := range in.Features {
		if x == 0 {
			continue
		}
		row := out[p/in.Cols*width:][:width]
		for j, w := range matrix[p%in.Cols*width:][:width] {
			row[j] += float64(float64(x) * float64(w))
		}
	}
	return out
}
