package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/trainer"
)

func TestGuessesFillInUnknownLabelsThatAreSure(t *testing.T) {
	const licit, illicit, unknown = lethe.Licit, lethe.Illicit, lethe.Unknown
	s := &lethe.Slice{
		Nodes:  []lethe.Pseudonym{{1}, {2}, {3}, {4}, {5}},
		Labels: []lethe.Label{licit, unknown, unknown, unknown, illicit},
		Parts:  []lethe.Digest{{1}},
	}
	said := []float64{.99, .99, .5, .01, .01}
	out := (&extras{sure: .95, share: 1}).guesses(s, said)
	require.Equal(t, []lethe.Label{licit, illicit, unknown, licit, illicit}, out.Labels)
	require.Equal(t, []lethe.Label{licit, unknown, unknown, unknown, illicit}, s.Labels)
	require.NotEqual(t, canonical.DigestSlice(s), canonical.DigestSlice(out))
	require.Same(t, s, (&extras{sure: 1, share: 1}).guesses(s, said))
}

// Which guesses are taken is drawn by node, so that another node's absence moves none.
func TestGuessesAreTakenByNode(t *testing.T) {
	const n = 400
	s := &lethe.Slice{Nodes: make([]lethe.Pseudonym, n), Labels: make([]lethe.Label, n)}
	sure := make([]float64, n)
	for i := range n {
		s.Nodes[i], sure[i] = lethe.Pseudonym{byte(i), byte(i >> 8)}, 1
	}
	quarter := extras{sure: .95, share: .25}
	all := quarter.guesses(s, sure)
	require.InDelta(t, n/4, all.Labelled(), n/16)
	fewer := &lethe.Slice{Nodes: s.Nodes[1:], Labels: s.Labels[1:]}
	require.Equal(t, all.Labels[1:], quarter.guesses(fewer, sure[1:]).Labels)
}

// A group's guesses and embeddings follow from its own slices: what another group holds
// changes neither them nor the model that learns from them.
func TestWhatIsLearntWithoutLabelsStaysInItsGroup(t *testing.T) {
	folder := generated(t)
	for _, name := range []string{
		"trees:2:rounds=20:self=2:sure=.7:spread", "elliptic-gin:2:hidden=8:self=1:sure=.7", "logistic:2:dgi=4:epochs=2",
	} {
		models := func(change bool) []lethe.Digest {
			c := small(folder)
			c.Components = []string{name}
			r, err := newRun(t.Context(), c, rulesOf(t, "auto").Threshold)
			require.NoError(t, err)
			for _, s := range r.steps {
				for shard := 2; change && shard < 4; shard++ {
					for i := range s.joined.slices[shard].Features {
						s.joined.slices[shard].Features[i] /= 2
					}
				}
			}
			require.NoError(t, r.through(t.Context()))
			var out []lethe.Digest
			for _, m := range r.components[0].models {
				out = append(out, trainer.DigestCheckpoint(m))
			}
			return out
		}
		before, again, after := models(false), models(false), models(true)
		require.Equal(t, before, again)
		require.Equal(t, before[0], after[0], name)
		require.NotEqual(t, before[1], after[1], name)
	}
}
