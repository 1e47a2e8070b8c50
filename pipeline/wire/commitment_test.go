package wire_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

func TestCommitmentsAreReadAsTheyAreWritten(t *testing.T) {
	for _, want := range []wire.Commitment{
		{Component: 2, Group: 1, Timestep: 34, Lineage: lethe.Digest{1}, Digest: lethe.Digest{2}},
		{Setup: true, Digest: lethe.Digest{3}},
	} {
		out, err := want.Record()
		require.NoError(t, err)
		rec := ingest.Record{Key: out.Key, Value: out.Value}
		got, found, err := wire.ParseCommitment(rec)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, want, got)
		n, err := wire.ParseNotice(rec)
		require.NoError(t, err)
		require.Equal(t, wire.Notice{}, n, "other roles pass over it")

		rec.Unauthenticated = "it carries no code"
		_, _, err = wire.ParseCommitment(rec)
		require.ErrorIs(t, err, wire.ErrUnauthenticated)
		rec.Unauthenticated = ""
		rec.Value = bytes.Replace(out.Value, []byte(`"component":2`), []byte(`"component":1`), 1)
		if !want.Setup {
			_, _, err = wire.ParseCommitment(rec)
			require.ErrorContains(t, err, "not the content of its key")
		}
		rec.Key, rec.Value = []byte("!commit/9/9/9"), out.Value
		_, _, err = wire.ParseCommitment(rec)
		require.ErrorContains(t, err, "not the content of its key")
	}
	_, found, err := wire.ParseCommitment(ingest.Record{Key: []byte("!served"), Value: []byte("{}")})
	require.NoError(t, err)
	require.False(t, found)
}
