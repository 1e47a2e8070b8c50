package coordinator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
)

// A transaction that came after an erasure was planned, with the very features of the
// one erased, was found for ever, so that the request was never verified.
func TestFeaturesOfAnotherAreNotSearchedFor(t *testing.T) {
	d := deploy(t).carryOut(alone(), 0, false)
	require.NotContains(t, d.statement("one").NotSearched, scan.KindFeatures)

	d = deploy(t)
	d.graphs.alike[contentOf("transaction-1")] = true
	d.carryOut(alone(), 0, false)
	require.Contains(t, d.statement("one").NotSearched, scan.KindFeatures)
	e, err := d.states.o.Ledger.Get("one")
	require.NoError(t, err)
	require.Empty(t, e.Progress.Rows)
	require.NotEmpty(t, e.Progress.Fingerprints)
	for _, f := range e.Progress.Fingerprints {
		require.NotEqual(t, scan.KindFeatures, f.Kind)
	}
}
