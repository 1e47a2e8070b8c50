package wire_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

func recordOf(out ingest.Outgoing) ingest.Record {
	return ingest.Record{Topic: "status", Offset: 3, Key: out.Key, Value: out.Value}
}

func TestOrderRoundTrip(t *testing.T) {
	secret := lethe.Secret{1}
	prints, err := scan.IDFingerprints(secret, "transaction-1")
	require.NoError(t, err)
	sent := &wire.Command{
		RequestID: "gdpr-1", Attempt: 2, Phase: wire.PhasePurge, Suppressed: []lethe.Digest{{4}}, Fingerprints: prints,
		Steps: []wire.CommandStep{
			{Timestep: 3, Revision: 2, Settled: true, Shards: []lethe.ShardID{1, 4}},
			{Timestep: 5, Revision: 2, Shards: []lethe.ShardID{}},
		},
	}
	out, err := sent.Record()
	require.NoError(t, err)
	require.NotContains(t, string(out.Value), "transaction-1")
	n, err := wire.ParseNotice(recordOf(out))
	require.NoError(t, err)
	require.Equal(t, wire.Notice{Command: sent}, n)
	require.Equal(t, map[lethe.ShardID]bool{1: true, 4: true}, n.Command.Shards())
}

// A role that looks for what a command erases finds it wherever it is in its
// folder.
func TestOrderSearchesAFolder(t *testing.T) {
	secret, dir := lethe.Secret{1}, t.TempDir()
	prints, err := scan.IDFingerprints(secret, "transaction-1")
	require.NoError(t, err)
	command := &wire.Command{RequestID: "gdpr-1", Fingerprints: prints}
	file := filepath.Join(dir, "shard", "table")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	for content, hits := range map[string]int{`{"id":"transaction-1"}`: 1, `{"id":"transaction-2"}`: 0} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		summary, err := command.Search(t.Context(), secret, dir)
		require.NoError(t, err)
		require.Equal(t, hits, summary.Hits)
		require.EqualValues(t, 1, summary.Files)
	}
	_, err = command.Search(t.Context(), secret, filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestParseNoticeTellsTheKindsApart(t *testing.T) {
	ack := deletions.NewAck("gdpr-1", "score", "1", deletions.StepSuppressed)
	value, err := ack.Encode()
	require.NoError(t, err)
	n, err := wire.ParseNotice(ingest.Record{Key: []byte(ack.Key()), Value: value})
	require.NoError(t, err)
	require.Equal(t, wire.Notice{Ack: &ack}, n)

	entry, err := deletions.NewEntry(lethe.Secret{1},
		lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("transaction-1")}, time.Unix(5, 0))
	require.NoError(t, err)
	status := entry.Status()
	value, err = status.Encode()
	require.NoError(t, err)
	n, err = wire.ParseNotice(ingest.Record{Key: []byte("gdpr-1"), Value: value})
	require.NoError(t, err)
	require.Equal(t, wire.Notice{Status: &status}, n)

	for key, want := range map[string]wire.Notice{
		string(wire.CommandKey("gdpr-1")): {Deleted: "gdpr-1"},
		ack.Key():                         {},
		"gdpr-1":                          {},
	} {
		n, err := wire.ParseNotice(ingest.Record{Key: []byte(key)})
		require.NoError(t, err)
		require.Equal(t, want, n, "tombstone of %s", key)
	}
	n, err = wire.ParseNotice(ingest.Record{Key: []byte("!roll/0"), Value: []byte("not json")})
	require.NoError(t, err)
	require.Equal(t, wire.Notice{}, n)
}

func TestParseNoticeRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, key := range []string{"order/gdpr-1", "ack/gdpr-1/score/1/purged", "gdpr-1"} {
		for _, value := range []string{"", "{", `{"format":"lethe-erasure-order/9"}`} {
			_, err := wire.ParseNotice(ingest.Record{Topic: "status", Offset: 3, Key: []byte(key), Value: []byte(value)})
			require.ErrorContains(t, err, "status/0@3", "%s: %s", key, value)
		}
	}
}
