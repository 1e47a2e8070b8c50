package wire_test

import (
	"bytes"
	"fmt"
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

// Who plays a role says which directories it has replaced, also after a start that
// replaces none, and says of itself that it is there.
func TestReplacedDirectoriesAreRemembered(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plays := func(identity string) wire.Instance { return wire.Instance{Role: "train", Identity: identity} }
	first := plays("a")
	second := plays("b").After(first, at)
	require.Equal(t, []wire.Replaced{{Identity: "a", At: at}}, second.Replaced)
	again := plays("b").After(second, at.Add(time.Hour))
	require.Equal(t, second.Replaced, again.Replaced)
	require.Equal(t, second.Replaced, again.After(second, at.Add(time.Hour)).Replaced, "each once")
	back := plays("a").After(again, at.Add(2*time.Hour))
	require.Equal(t, []wire.Replaced{{Identity: "b", At: at.Add(2 * time.Hour)}}, back.Replaced)

	last := first
	for i := range 100 {
		last = plays(fmt.Sprintf("c%d", i)).After(last, at)
	}
	require.Len(t, last.Replaced, 32)
	require.Equal(t, 100-32, last.Earlier)
	require.Equal(t, "c98", last.Replaced[31].Identity)
	record, err := last.Record()
	require.NoError(t, err)
	read, found, err := wire.ParseInstance(recordOf(record))
	require.NoError(t, err)
	require.True(t, found)
	last.Format = read.Format
	require.Equal(t, last, read)
}

// The transparency log repeats when a directory was struck off or replaced. What has no time that it could write is
// no such record, whoever signed it: it is passed over as any other that cannot be read.
func TestWhatHasNoTimeStrikesNobodyOff(t *testing.T) {
	zone := time.FixedZone("", -23*3600)
	for _, at := range []time.Time{{}, time.Time{}.Add(time.Microsecond), time.Date(9999, 12, 31, 23, 0, 0, 0, zone)} {
		record, err := wire.Strike{Role: "train", Identity: "1"}.Record()
		require.NoError(t, err)
		said, err := at.MarshalText()
		require.NoError(t, err)
		record.Value = []byte(`{"format":"lethe-strike/1","role":"train","identity":"1","at":"` + string(said) + `"}`)
		_, found, err := wire.ParseStrike(recordOf(record))
		require.False(t, found)
		require.ErrorContains(t, err, "want a time of the years 1970 to 9999")
		notice, err := wire.ParseNotice(recordOf(record))
		require.Error(t, err)
		require.Nil(t, notice.Strike)

		record, err = wire.Instance{Role: "view", Identity: "2"}.Record()
		require.NoError(t, err)
		record.Value = []byte(`{"format":"lethe-instance/1","role":"view","identity":"2","replaced":[{"identity":"1","at":"` +
			string(said) + `"}]}`)
		_, _, err = wire.ParseInstance(recordOf(record))
		require.ErrorContains(t, err, "1970 to 9999")
	}
	record, err := wire.Strike{Role: "train", Identity: "1", At: time.Date(2026, 3, 1, 12, 0, 0, 1, zone)}.Record()
	require.NoError(t, err)
	strike, found, err := wire.ParseStrike(recordOf(record))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC), strike.At)
}
