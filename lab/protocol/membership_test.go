package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/protocol"
)

// Nodes that an overfitted model holds are told by their loss; once they are erased, no
// better than by chance. Without shards nothing but the erased nodes differs between
// the two versions.
func TestErasedNodesAreNoMembersAnyMore(t *testing.T) {
	g := planted(240, 1)
	draw := lethe.NewDraw(1, "labels to learn by rote")
	for i := range g.Labels {
		g.Labels[i] = draw.IntN(g.Classes)
	}
	s := protocol.Defaults("sage")
	s.Hidden, s.Epochs, s.Seed, s.WeightDecay = 32, 200, 3, 0
	req := protocol.Request{Batch: 40, Scope: lethe.ScopeShard}
	found, err := protocol.Infer(t.Context(), g, s, req, runtimeOf(2))
	require.NoError(t, err)
	require.Greater(t, found.Control, .7)
	require.InDelta(t, .5, found.Loss, .12)
	require.Greater(t, found.Control, found.Loss+.15)
	again, err := protocol.Infer(t.Context(), g, s, req, runtimeOf(1))
	require.NoError(t, err)
	require.Equal(t, found, again)

	s.Transductive = true
	_, err = protocol.Infer(t.Context(), g, s, req, runtimeOf(1))
	require.ErrorContains(t, err, "never saw")
	s.Transductive, req.Batch = false, 49
	_, err = protocol.Infer(t.Context(), g, s, req, runtimeOf(1))
	require.EqualError(t, err, "batch is 49, want at most the 48 test nodes")
}
