package aggregation

import (
	"fmt"
	"math"
	"strconv"

	"lethe"
	"lethe/internal/portable/gomath"
	"lethe/lab/similarity"
)

// bySimilarity weighs shards by softmax(s / temperature) over the normalised pyramid match kernel s
// of the scored graph and the slice that a shard learned from last. A shard whose slice was empty
// has similarity 0: it has the lowest weight but is not excluded, because it has learned from
// earlier timesteps.
type bySimilarity struct{ temperature float64 }

func newBySimilarity(temperature float64) (Aggregation, error) {
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return nil, fmt.Errorf("temperature is %v, want a positive number", temperature)
	}
	return bySimilarity{temperature}, nil
}

// Name implements Aggregation.
func (s bySimilarity) Name() string {
	return MethodSimilarity + "@" + strconv.FormatFloat(s.temperature, 'g', -1, 64)
}

// Combiner implements Aggregation.
func (s bySimilarity) Combiner(e Evidence) (Combiner, error) {
	vectors, err := e.Vectors()
	if err != nil {
		return nil, err
	}
	graph, err := similarity.HistogramOf(e.Nodes, e.Edges, similarity.Defaults())
	if err != nil {
		return nil, fmt.Errorf("aggregation vector of the graph: %w", err)
	}
	weights := make(Weights, e.Shards)
	for shard := range weights {
		var h similarity.Histogram
		if err := h.UnmarshalBinary(vectors[shard]); err != nil {
			return nil, fmt.Errorf("aggregation vector of shard %d: %w", shard, err)
		}
		if weights[shard], err = similarity.Normalised(graph, &h); err != nil {
			return nil, fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	softmax(weights, s.temperature)
	return weights, nil
}

// Describe returns the aggregation vector of a checkpoint: the histogram of the slice it was
// trained on last, as canonical bytes.
func Describe(s *lethe.Slice) ([]byte, error) {
	h, err := similarity.HistogramOfSlice(s, similarity.Defaults())
	if err != nil {
		return nil, err
	}
	return h.MarshalBinary()
}

// softmax replaces scores by exp(score / temperature) over their sum. The largest is subtracted
// first to avoid overflow.
func softmax(scores []float64, temperature float64) {
	largest := math.Inf(-1)
	for _, s := range scores {
		largest = max(largest, s)
	}
	sum := 0.0
	for i, s := range scores {
		scores[i] = gomath.Exp((s - largest) / temperature)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}
