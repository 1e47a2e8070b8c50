package protocol

import (
	"context"
	"fmt"
	"slices"

	"lethe/lab/aggregation"
	"lethe/lab/measures"
	"lethe/lab/propagation"
	"lethe/trainer"
)

// combiner returns what puts the shards' answers together. Similarity compares the
// repaired shards with the graph of all nodes; the learned weights are fitted
// on the training nodes in the training graph, as Eraser's LBAggr.
func (t *graphRun) combiner(ctx context.Context, aggregate string) (aggregation.Combiner, error) {
	return combiner(aggregate, t.full, t.slices, func() (aggregation.Labelled, error) { return t.labelled(ctx) })
}

// labelled returns what training saw and nothing else.
func (t *graphRun) labelled(ctx context.Context) (aggregation.Labelled, error) {
	answers, err := t.models.ask(ctx, trainer.InputOf(t.graph))
	if err != nil {
		return aggregation.Labelled{}, err
	}
	labels := make([]int, len(t.graph.Nodes))
	for i, n := range t.graph.Nodes {
		labels[i] = int(n.Label) - 1 // a hidden label becomes NoClass
	}
	return aggregation.Labelled{Posteriors: answers.Shards, Classes: t.g.Classes, Labels: labels, Seed: t.s.Seed}, nil
}

// propagate spreads the training nodes' labels over the graph of all nodes, from
// posteriors that it does not change. Those of a training node must be by models that
// never saw its label; the settings are chosen on training labels that are hidden in
// turn.
func (t *graphRun) propagate(posteriors []float32) ([]float32, error) {
	known := make([]int, t.g.NumNodes())
	for node, class := range t.g.Labels {
		known[node] = class
		if t.split.isTest[node] {
			known[node] = measures.NoClass
		}
	}
	g := &propagation.LabelledGraph{Edges: t.g.Edges, Classes: t.g.Classes, Known: known, Posteriors: posteriors}
	options := propagation.ChoiceDefaults()
	options.Seed = t.s.Seed
	choice, err := propagation.Choose(g, options)
	if err != nil {
		return nil, fmt.Errorf("propagation: %w", err)
	}
	out, err := propagation.Propagate(g, choice.Options)
	if err != nil {
		return nil, fmt.Errorf("propagation: %w", err)
	}
	return out, nil
}

// labelsAlone measures propagation without a model: every node begins with the shares
// of the classes among the training nodes.
func (t *graphRun) labelsAlone() (Reading, error) {
	shares := make([]float32, t.g.Classes)
	for _, node := range t.split.Train {
		shares[t.g.Labels[node]] += 1 / float32(len(t.split.Train))
	}
	prior := slices.Repeat(shares, t.g.NumNodes())
	propagated, err := t.propagate(prior)
	if err != nil {
		return Reading{}, err
	}
	reading, err := t.read(AggregateNone, propagated, prior)
	reading.Propagated = true
	return reading, err
}
