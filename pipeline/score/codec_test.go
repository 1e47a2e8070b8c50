package score

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role/roletest"
)

func TestLinkRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := link{
			revision: lethe.Revision(rapid.Uint32().Draw(rt, "revision")),
			previous: lethe.Timestep(rapid.Int64Min(-1).Draw(rt, "previous")),
			done:     rapid.Bool().Draw(rt, "done"),
			late:     rapid.Bool().Draw(rt, "late"),
			owed:     rapid.SampledFrom([]owed{owesNothing, owesNew, owesAgain}).Draw(rt, "owed"),
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

func TestExplainedDamage(t *testing.T) {
	e := explained{alerts: []alert{
		{node: lethe.Pseudonym{1}, owed: true, around: []lethe.Pseudonym{}},
		{node: lethe.Pseudonym{2}, around: []lethe.Pseudonym{{3}, {4}}},
	}}
	message := e.encode()
	back, err := decodeExplained(message)
	require.NoError(t, err)
	require.Equal(t, e, back)
	for n := range message {
		_, err := decodeExplained(message[:n])
		require.ErrorIs(t, err, canonical.ErrCorrupt, "cut to %d bytes", n)
	}
}

// Of alerts that are all erased an empty list is stored: a file that is to be deleted stays if the
// process is killed before, and nobody deletes it any more.
func TestAlertsThatAreGoneAreOverwritten(t *testing.T) {
	store := roletest.NewStore()
	write := func(e explained) {
		require.NoError(t, store.Apply(func(w swapstore.Writer) error {
			e.write(w, 3)
			return nil
		}))
	}
	write(explained{}.with([]likely{{lethe.Pseudonym{1}, 1}}))
	write(explained{changed: true})
	value, found, err := store.Get(timestepkey.New(explainedPrefix, 3))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, explained{}.encode(), value)
}

// The most probable alerts have reasons, the first of equal ones.
func TestAlertsWithReasonsAreBounded(t *testing.T) {
	var alerts []likely
	for i := range 2 * mostAlerts {
		alerts = append(alerts, likely{lethe.Pseudonym{byte(i)}, float64(i / 2)})
	}
	e := explained{}.with(alerts)
	require.Equal(t, mostAlerts, e.owed())
	for i, a := range e.alerts {
		require.Equal(t, lethe.Pseudonym{byte(mostAlerts + i)}, a.node)
	}
	require.Equal(t, e.alerts, e.with(alerts[:3]).alerts)
}
