package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
	"lethe/lab/citation"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/partition/repair"
)

// Known labels make up for what sharding costs, even to models that were hardly
// trained: a short form of what the full evaluation measures.
func TestRealCora(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on Cora")
	}
	cora, err := citation.Load(realdata.Path(t, "planetoid", "cora.npz"))
	require.NoError(t, err)
	g := protocol.FromCitation(cora, false)
	one := protocol.Defaults("gcn")
	one.Epochs, one.Repair, one.Partition.Method = 80, repair.None, partition.MethodRandom
	unsharded := run(t, g, one, 2)
	require.Greater(t, unsharded.Readings[0].Test.Accuracy, .8)
	require.Equal(t, 542, unsharded.Readings[0].Test.Labelled)

	many := protocol.Defaults("gcn")
	many.Epochs, many.Shards, many.MinStubs, many.Propagate, many.Partition.Refine = 10, 20, 4, true, true
	sharded := run(t, g, many, 2)
	require.Greater(t, sharded.Readings[1].Test.Accuracy, .82, "with known labels")
	require.Greater(t, sharded.Readings[1].Test.Accuracy, sharded.Readings[0].Test.Accuracy)
	require.Less(t, sharded.Shape.ShardsPerErasure, 4.)
}
