package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
)

// A record of somebody else that names something erased in a header, and comes after the
// erasure, is withdrawn: its topic would hold the name for ever.
func TestHeadersThatNameWhatWasErased(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 5, 40, 41)
	c := smallConfig(t, t.TempDir())
	s := lifecycle(t, c, stream)
	gone := stream.Steps[1].Transactions[0].ID
	forms := []residue.Form{{Name: "id", Bytes: []byte(gone)}}
	require.Equal(t, deletions.Verified, s.erase("first", lethe.ScopeStubs, gone))
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{
		ID: "of-another", Timestep: 5, Features: stream.Steps[1].Transactions[1].Features,
	})
	require.NoError(t, err)
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{{
		Key: key, Value: value, Headers: []ingest.Header{{Key: "parent", Value: []byte(gone)}},
	}}))
	s.quiet()
	s.finish(stream)
	require.Equal(t, deletions.Verified, s.erase("second", lethe.ScopeStubs, stream.Steps[1].Transactions[2].ID))
	s.clean(c.DataDir, forms)
	s.stop()
}
