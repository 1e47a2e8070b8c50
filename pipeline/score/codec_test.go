package score

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
)

func TestLinkRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := link{
			revision: lethe.Revision(rapid.Uint32().Draw(rt, "revision")),
			previous: lethe.Timestep(rapid.Int64Min(-1).Draw(rt, "previous")),
			done:     rapid.Bool().Draw(rt, "done"),
			late:     rapid.Bool().Draw(rt, "late"),
		}
		back, err := decodeLink(l.encode())
		require.NoError(rt, err)
		require.Equal(rt, l, back)
	})
	_, err := decodeLink([]byte("1 x"))
	require.Error(t, err)
}

func TestPublishedDamage(t *testing.T) {
	g := &published{nodes: []lethe.Pseudonym{{1}, {2}}, probabilities: []float64{.25, 1}, late: []lethe.Pseudonym{{3}}}
	message := g.encode()
	back, err := decodePublished(message)
	require.NoError(t, err)
	require.Equal(t, g, back)
	for n := range message {
		_, err := decodePublished(message[:n])
		require.ErrorIs(t, err, canonical.ErrCorrupt, "cut to %d bytes", n)
	}
}
