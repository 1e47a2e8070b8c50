package coordinator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
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

// Its record was withdrawn from the topic, and a dead letter of it was never written.
func TestARecordIsNotWithdrawnForTheFeaturesOfAnother(t *testing.T) {
	row := []float32{1.5, -2.25, 3.125, 4.75}
	prints, err := scan.RowFingerprints(testSecret, row)
	require.NoError(t, err)
	ids, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, append(prints, ids...))
	require.NoError(t, err)
	for _, c := range []struct {
		key, value string
		found      bool
	}{
		{"transaction-2",
			`{"type":"transaction","id":"transaction-2","timestep":3,"features":[1.5,-2.25,3.125,4.75]}`, false},
		{"transaction-1", `{"type":"transaction","id":"transaction-1","timestep":3,"features":[1.5,-2.25,3.125,4.75]}`, true},
		{"transaction-2", `{"id":"transaction-2","note":"transaction-1","features":[1.5,-2.25,3.125,4.75]}`, true},
		{"transaction-2", `{"id":"transaction-3","features":[1.5,-2.25,3.125,4.75]}`, true},
		{"transaction-2", `{"id":"transaction-2","features":[1.5,-2.25,3.125,4.75], cut`, true},
		{"x", `{"features":[1.5,-2.25,3.125,4.75]}`, true},
	} {
		rec := ingest.Record{Topic: string(bus.Transactions), Key: []byte(c.key), Value: []byte(c.value)}
		require.Equal(t, c.found, len(hitsIn(scanner, rec)) > 0, c.value)
	}
}
