package score

import (
	"fmt"

	"lethe"
	"lethe/scoring"
)

// portraits are the decoded aggregation vectors of one ensemble: per shard, the
// histogram of the newest slice its model was trained on.
type portraits struct {
	version lethe.Digest
	shards  []*scoring.Histogram
}

// weights returns how much each shard's answer counts for a snapshot.
func (r *Role) weights(s *lethe.Snapshot) ([]float64, error) {
	models := r.state.served.models
	if r.o.Aggregation == scoring.MethodMean {
		return scoring.Weights(scoring.MethodMean, nil, make([]*scoring.Histogram, len(models)), 0)
	}
	if r.portraits == nil || r.portraits.version != r.state.served.version {
		next := &portraits{version: r.state.served.version, shards: make([]*scoring.Histogram, len(models))}
		for shard, m := range models {
			next.shards[shard] = &scoring.Histogram{}
			if err := next.shards[shard].UnmarshalBinary(m.Aggregation); err != nil {
				return nil, fmt.Errorf("aggregation vector of shard %d: %w", shard, err)
			}
		}
		r.portraits = next
	}
	test, err := scoring.HistogramOf(len(s.Nodes), s.Undirected(), scoring.PyramidOptions{})
	if err != nil {
		return nil, fmt.Errorf("aggregation vector of the snapshot: %w", err)
	}
	return scoring.Weights(r.o.Aggregation, test, r.portraits.shards, r.o.Temperature)
}
