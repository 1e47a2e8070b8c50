package protocol

import (
	"lethe"
	"lethe/scoring"
)

// weights returns what every shard's answer counts for at a timestep. Similarity
// compares its graph with the shards' newest slices. Learned weights are fitted
// on the labelled transactions of the validation timesteps, scored before they
// were learnt from; until those are over every shard counts the same.
func (j *journey) weights(aggregate string, snap *lethe.Snapshot) ([]float64, error) {
	shards := make([]*scoring.Histogram, j.s.Shards)
	switch aggregate {
	case AggregateSimilarity:
		newest := make([]*lethe.Slice, j.s.Shards)
		for shard, window := range j.windows {
			newest[shard] = window[len(window)-1]
		}
		shards, err := portraits(newest)
		if err != nil {
			return nil, err
		}
		test, err := scoring.HistogramOf(len(snap.Nodes), snap.Undirected(), scoring.PyramidOptions{})
		if err != nil {
			return nil, err
		}
		return scoring.Weights(scoring.MethodSimilarity, test, shards, 0)
	case AggregateLearned:
		if len(j.validationLabels) > 0 {
			return scoring.LearnWeights(j.validation, classesOfStream, j.validationLabels, scoring.LearnOptions{Seed: j.s.Seed})
		}
	}
	return scoring.Weights(scoring.MethodMean, nil, shards, 0)
}

// keep notes the labelled rows of a validation timestep.
func (j *journey) keep(posteriors [][]float32, labels []lethe.Label) {
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
