package ensemble

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/trainer"
)

// Explanation is what moved the components' logits of one transaction.
type Explanation struct {
	// Graph is the part of the graph that a model may look at, and Rows says which rows of
	// the whole it consists of, ascending. At is the transaction's row in it.
	Graph trainer.Input
	Rows  []uint32
	At    int
	// Components has the mean of the attributions of each component's models, with rows as
	// in Graph; nil for a component that has none (trainer.Config.Explains) or no weight.
	Components []*trainer.Attribution
}

// Explain attributes what every component says of a row of a graph, as Ask asks it.
// neighbours are those of every row (trainer.Input.Neighbours). The logit of a component
// is the mean of its models' own, of which Answers.Logits has those of probabilities in
// single precision, bounded. weights are those of the components, nil for none of 0: what a
// component with such a weight says moves nothing, so its models are not asked.
//
// Errors are those of trainer.Engine.Explain, with the shard.
func (r Runner) Explain(
	ctx context.Context, models []*trainer.Checkpoint, weights []float64,
	graph trainer.Input, neighbours [][]uint32, row int,
) (*Explanation, error) {
	explains := func(component int) bool {
		return r.Layout.Components[component].Config.Explains() && (weights == nil || weights[component] != 0)
	}
	reach := 0
	for _, c := range r.Layout.Components {
		reach = max(reach, c.Config.Reach())
	}
	e := &Explanation{Components: make([]*trainer.Attribution, len(r.Layout.Components))}
	e.Graph, e.Rows = graph.Around(row, reach, neighbours)
	e.At, _ = slices.BinarySearch(e.Rows, uint32(row))
	parts := make([]*trainer.Attribution, len(models))
	err := r.Each(ctx, len(models), func(ctx context.Context, shard int) (err error) {
		if component, _ := r.Layout.Place(lethe.ShardID(shard)); !explains(component) {
			return nil
		}
		if parts[shard], err = r.Engine(lethe.ShardID(shard)).Explain(ctx, models[shard], e.Graph, e.At); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	first := 0
	for k, c := range r.Layout.Components {
		if explains(k) {
			e.Components[k] = mean(parts[first : first+c.Groups])
		}
		first += c.Groups
	}
	return e, nil
}

// mean is the mean of attributions of one shape.
func mean(parts []*trainer.Attribution) *trainer.Attribution {
	share := 1 / float64(len(parts))
	out := &trainer.Attribution{
		Features: make([]float64, len(parts[0].Features)), Rows: make([]float64, len(parts[0].Rows)),
	}
	for _, p := range parts {
		out.Logit += float64(share * p.Logit)
		out.Base += float64(share * p.Base)
		out.Shape += float64(share * p.Shape)
		for i, v := range p.Features {
			out.Features[i] += float64(share * v)
		}
		for i, v := range p.Rows {
			out.Rows[i] += float64(share * v)
		}
	}
	return out
}
