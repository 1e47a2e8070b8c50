package protocol

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/lab/aggregation"
	"lethe/trainer"
)

// parts is the number of parts of the training nodes that a model without shards is
// trained without, one after the other.
const parts = 5

// unseen combines the shards' answers so that a training node's are by models that
// never saw its label: those of the other shards, or, where one model saw all
// labels, those of models that were trained with a part of the labels hidden. An
// overfitted model's own answers would leave nothing to correct.
func (t *graphRun) unseen(ctx context.Context, answers [][]float32, by aggregation.Combiner) ([]float32, error) {
	combined := by.Combine(answers, t.g.Classes, t.owners)
	if len(answers) > 1 {
		return combined, nil
	}
	part := make([]int, t.g.NumNodes())
	draw := lethe.NewDraw(t.s.Seed, "protocol/parts")
	for _, node := range t.split.Train {
		part[node] = draw.IntN(parts)
	}
	for hidden := range parts {
		said, err := t.without(ctx, func(node int) bool { return part[node] == hidden })
		if err != nil {
			return nil, fmt.Errorf("model without part %d of the labels: %w", hidden, err)
		}
		for _, node := range t.split.Train {
			if part[node] == hidden {
				copy(combined[node*t.g.Classes:][:t.g.Classes], said[node*t.g.Classes:])
			}
		}
	}
	return combined, nil
}

// without trains the model of the only shard with the labels of some nodes hidden, and
// returns what it says of all nodes.
func (t *graphRun) without(ctx context.Context, hidden func(node int) bool) ([]float32, error) {
	slice := *t.slices[0]
	slice.Labels = slices.Clone(slice.Labels)
	for i, p := range slice.Nodes {
		if hidden(rowOf(p)) {
			slice.Labels[i] = lethe.Unknown
		}
	}
	runtime := t.r
	runtime.Epoch, runtime.Resumed = nil, nil // it is no part of the ensemble
	models, err := newShardModels(t.s, t.g.Classes, 1, trainer.Window, runtime)
	if err != nil {
		return nil, err
	}
	if err := models.train(ctx, [][]*lethe.Slice{{&slice}}); err != nil {
		return nil, err
	}
	answers, err := models.ask(ctx, t.full)
	if err != nil {
		return nil, err
	}
	return answers.Shards[0], nil
}
