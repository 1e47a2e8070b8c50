package protocol_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/protocol"
)

// What propagation takes for the answers on a training node does not depend on that
// node's label, without shards either: another label leaves its row as it was and
// changes rows of others.
func TestPropagationBeginsWithModelsThatNeverSawTheLabel(t *testing.T) {
	g := planted(120, 1)
	for _, transductive := range []bool{false, true} {
		s := brief()
		s.Shards, s.Transductive, s.Epochs = 1, transductive, 10
		unseen := func(g *protocol.Graph) []float32 {
			out, err := protocol.Unseen(t.Context(), g, s, runtimeOf(2))
			require.NoError(t, err)
			return out
		}
		node := protocol.NewSplit(g.NumNodes(), s.TrainFraction, s.Seed).Train[7]
		other := *g
		other.Labels = slices.Clone(g.Labels)
		other.Labels[node] = (other.Labels[node] + 1) % g.Classes
		before, after := unseen(g), unseen(&other)
		own := func(rows []float32) []float32 { return rows[node*g.Classes:][:g.Classes] }
		require.Equal(t, own(before), own(after), "transductive %t", transductive)
		require.NotEqual(t, before, after)
	}
}
