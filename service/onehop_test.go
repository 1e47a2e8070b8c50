package service_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/service/servicetest"
	"lethe/trainer"
)

// With one-hop features the models are asked with the rows they were trained
// on, and scope shard, which would leave means of the erased row in other
// shards, is refused.
func TestOneHopFeatures(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 21)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Repair.OneHop = true
	s, m := start(t, c), newMirror(t, c, stream)
	s.Replay(stream)
	m.settle(1, 2)
	trained := m.build().checkpoints
	m.settle(3)

	g := m.graph(3)
	require.Equal(t, 2*g.FeatureCount+1, m.slices[3][0].FeatureCount)
	models := make([]*trainer.Checkpoint, c.Partition.Shards)
	for shard := range models {
		var err error
		models[shard], err = trainer.DecodeCheckpoint(trained[sliceAt{lethe.ShardID(shard), 2}])
		require.NoError(t, err)
	}
	said, err := m.runner.Ask(t.Context(), models,
		trainer.InputOf(onehop.Undirected.Join(g)))
	require.NoError(t, err)
	want := ensemble.Illicit(scoring.Mean(said.Shards))
	published := s.Newest(bus.Predictions)
	for i, n := range g.Nodes {
		var p scoring.Prediction
		require.NoError(t, json.Unmarshal([]byte(published[string(n.ID)]), &p))
		require.InDelta(t, want[i], p.Probability, 1e-9)
	}

	id := servicetest.LabelledIllicit(stream, 2)[0]
	require.Equal(t, deletions.Rejected, s.Erase("narrow", lethe.ScopeShard, id))
	require.Equal(t, deletions.Verified, s.Erase("exact", lethe.ScopeStubs, id))
}
