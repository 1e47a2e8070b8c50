package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

func TestAccessesAreReadAsTheyAreWritten(t *testing.T) {
	want := wire.Access{
		Deed: "look", At: time.Unix(5, 6_000_000).UTC(), Actor: lethe.Digest{1}, Request: lethe.Digest{2}, Count: 3,
	}
	out, err := want.Record("n")
	require.NoError(t, err)
	rec := ingest.Record{Key: out.Key, Value: out.Value}
	got, found, err := wire.ParseAccess(rec)
	require.NoError(t, err)
	require.True(t, found)
	want.Format = got.Format
	require.Equal(t, want, got)
	n, err := wire.ParseNotice(rec)
	require.NoError(t, err)
	require.Equal(t, wire.Notice{}, n, "other roles pass over it")
	require.True(t, wire.IsAccess(rec))

	for _, value := range []string{"", `{`, `{"format":"lethe-access/2"}`, `{"format":"lethe-access/1","deed":"look"}`} {
		_, found, err = wire.ParseAccess(ingest.Record{Key: out.Key, Value: []byte(value)})
		require.Error(t, err, value)
		require.False(t, found)
	}
	rec.Unauthenticated = "no code"
	_, found, err = wire.ParseAccess(rec)
	require.ErrorIs(t, err, wire.ErrUnauthenticated)
	require.False(t, found)
	for _, other := range []ingest.Record{{Key: out.Key}, {Key: []byte("!served"), Value: out.Value}} {
		_, found, err = wire.ParseAccess(other)
		require.NoError(t, err)
		require.False(t, found)
	}
}
