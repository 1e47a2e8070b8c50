package ensemble

import (
	"context"
	"slices"

	"lethe/trainer"
)

// Explanation is the attribution of the components' logits for one transaction.
type Explanation struct {
	// Graph is the part of the graph that a model may use, and Rows are its rows in the whole
	// graph, ascending. At is the transaction's row in it.
	Graph trainer.Input
	Rows  []uint32
	At    int
	// Components has the mean of the attributions of each component's models, with rows as in
	// Graph; nil for a component without attributions (trainer.Config.Explains) or weight.
	Components []*trainer.Attribution
}

// Explain attributes every component's logit for some rows of a graph, prepared as for Ask.
// neighbours are those of every row (trainer.Input.Neighbours). The logit of a component is the
// mean of its models' logits; Answers.Logits computes the same from probabilities in single
// precision, bounded. weights are those of the components, nil if there are none; a component with
// weight 0 is not evaluated, because it does not affect the result. Each explanation is independent
// of the other rows.
//
// Errors are those of trainer.Engine.Explain.
func (r Runner) Explain(
	ctx context.Context, models []*trainer.Checkpoint, weights []float64,
	graph trainer.Input, neighbours [][]uint32, rows []int,
) ([]Explanation, error) {
	reach := 0
	for _, c := range r.Layout.Components {
		reach = max(reach, c.Config.Reach())
	}
	out, spots := make([]Explanation, len(rows)), make([]trainer.Spot, len(rows))
	for i, row := range rows {
		e := &out[i]
		e.Components = make([]*trainer.Attribution, len(r.Layout.Components))
		e.Graph, e.Rows = graph.Around(row, reach, neighbours)
		e.At, _ = slices.BinarySearch(e.Rows, uint32(row))
		spots[i] = trainer.Spot{Graph: e.Graph, Row: e.At}
	}
	first := 0
	for k, c := range r.Layout.Components {
		of := models[first : first+c.Groups]
		first += c.Groups
		if !c.Config.Explains() || weights != nil && weights[k] == 0 {
			continue
		}
		parts, err := r.Engines[k].Explain(ctx, r.Each, of, spots)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i].Components[k] = parts[i]
		}
	}
	return out, nil
}
