package repair

import (
	"fmt"

	"lethe/partition/graph"

	"lethe"
)

// Truth fills in a missing neighbour with the neighbour's own features. It is an ablation that
// measures the value of a perfect repair: the stub holds another shard's data, so an erasure
// would affect that shard too. Slices and the service reject it; only TruthSlices offers it.
const Truth = "truth"

// TruthSlice is a slice with the features of its stubs, which Stub.Lambda cannot express. It has
// no canonical bytes and is never stored or published.
type TruthSlice struct {
	*lethe.Slice
	// StubFeatures is row-major, one row of FeatureCount per stub in the order of Stubs: the
	// features of the missing neighbour.
	StubFeatures []float32
}

// TruthSlices is Slices with one stub per missing neighbour and the neighbours' true features.
// Every λ is 1, so ignoring StubFeatures gives Mirror. It is only for evaluation.
func TruthSlices(s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment, shards int) ([]TruthSlice, error) {
	c, err := newCutter(s, previous, a, shards, Config{Method: Mirror, Tau: 1})
	if err != nil {
		return nil, fmt.Errorf("ablation with true neighbours: %w", err)
	}
	out := make([]TruthSlice, shards)
	for shard := range out {
		out[shard].Slice = c.slice(lethe.ShardID(shard))
		out[shard].StubFeatures = make([]float32, 0, len(out[shard].Stubs)*s.FeatureCount)
		// In the order in which slice adds stubs.
		for _, i := range c.members[shard] {
			for _, j := range c.graph.Neighbors(int(i)) {
				if a[j] != lethe.ShardID(shard) {
					out[shard].StubFeatures = append(out[shard].StubFeatures, s.Row(int(j))...)
				}
			}
		}
	}
	return out, nil
}
