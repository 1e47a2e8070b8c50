package service_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/trainer"
)

// With one-hop features the models are asked with the rows they were trained
// on, and scope shard, which would leave means of the erased row in other
// shards, is refused.
func TestOneHopFeatures(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 3, 60, 21)
	c := smallConfig(t, t.TempDir())
	c.Repair.OneHop = true
	s, m := start(t, c), newMirror(t, c, stream)
	s.replay(stream)
	m.settle(1, 2)
	before := m.models()
	m.settle(3)

	g := m.graph(3)
	require.Equal(t, 2*g.FeatureCount+1, m.slices[3][0].FeatureCount)
	posteriors := make([][]float32, len(before))
	for shard, c := range before {
		var err error
		posteriors[shard], err = m.engine.Predict(context.Background(), c, trainer.InputOf(lethe.OneHop(g)))
		require.NoError(t, err)
	}
	weights, err := scoring.Weights(scoring.MethodMean, nil, make([]*scoring.Histogram, len(before)), 0)
	require.NoError(t, err)
	want := scoring.Combine(posteriors, weights)
	given := s.newest(bus.Predictions)
	for i, n := range g.Nodes {
		var p struct {
			Probability float64 `json:"probability_illicit"`
		}
		require.NoError(t, json.Unmarshal(given[string(n.ID)], &p))
		require.InDelta(t, want[i], p.Probability, 1e-9)
	}

	id := labelledIllicit(stream, 2)[0]
	require.Equal(t, deletions.Rejected, s.erase("narrow", lethe.ScopeShard, id))
	require.Equal(t, deletions.Verified, s.erase("exact", lethe.ScopeStubs, id))
}
