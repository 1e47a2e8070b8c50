package protocol

import (
	"lethe"
	"lethe/lab/aggregation"
	"lethe/trainer"
)

// combiner returns what puts the shards' answers together at a timestep. Similarity
// compares its graph with the shards' newest slices. Learned weights are fitted
// on the labelled transactions of the validation timesteps, scored before they
// were learnt from; until those are over every shard counts the same.
func (j *streamRun) combiner(aggregate string, graph trainer.Input) (aggregation.Combiner, error) {
	newest := make([]*lethe.Slice, j.s.Shards)
	for shard, window := range j.windows {
		newest[shard] = window[len(window)-1]
	}
	if len(j.validationLabels) == 0 {
		return combiner(aggregate, graph, newest, nil)
	}
	return combiner(aggregate, graph, newest, func() (aggregation.Labelled, error) {
		return aggregation.Labelled{
			Posteriors: j.validation, Classes: classesOfStream, Labels: j.validationLabels, Seed: j.s.Seed,
		}, nil
	})
}

// keep notes the labelled rows of a validation timestep.
func (j *streamRun) keep(posteriors [][]float32, labels []lethe.Label) {
	if j.validation == nil {
		j.validation = make([][]float32, j.s.Shards)
	}
	for i, label := range labels {
		if label == lethe.Unknown {
			continue
		}
		j.validationLabels = append(j.validationLabels, int(label)-1)
		for shard, rows := range posteriors {
			j.validation[shard] = append(j.validation[shard], rows[i*classesOfStream:(i+1)*classesOfStream]...)
		}
	}
}
