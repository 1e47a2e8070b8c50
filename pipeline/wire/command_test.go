package wire_test

import (
	"os"
	"path/filepath"
	"strconv"
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
	records, err := sent.Records()
	require.NoError(t, err)
	require.Len(t, records, 1)
	out := records[0]
	require.NotContains(t, string(out.Value), "transaction-1")
	n, err := wire.ParseNotice(recordOf(out))
	require.NoError(t, err)
	require.Equal(t, wire.Notice{Command: sent}, n)
	require.Equal(t, map[lethe.ShardID]bool{1: true, 4: true}, n.Command.Shards())
}

// A command of 1,000 short ids, which have most forms, and their rows, in several
// records: each fits its topic, the last says what the command does, and the tombstones
// delete all of them.
func TestALargeCommandTravelsInSeveralRecords(t *testing.T) {
	secret := lethe.Secret{1}
	sent := &wire.Command{
		RequestID: "gdpr-1", Phase: wire.PhaseSearch, SecretCheck: wire.SecretCheck(secret),
		Steps: []wire.CommandStep{{Timestep: 3, Revision: 2, Settled: true, Shards: []lethe.ShardID{1, 4}}},
	}
	for i := range 1000 {
		id := lethe.TransactionID(strconv.Itoa(i))
		prints, err := scan.TransactionFingerprints(secret, id)
		require.NoError(t, err)
		row, err := scan.RowFingerprints(secret, []float32{float32(i), 1, 2})
		require.NoError(t, err)
		sent.Fingerprints = append(append(sent.Fingerprints, prints...), row...)
		sent.Suppressed = append(sent.Suppressed, secret.Suppression(id))
	}
	records, err := sent.Records()
	require.NoError(t, err)
	require.Greater(t, len(records), 2)
	reader := wire.NewNoticeReader()
	keys := make(map[string]bool)
	for i, out := range records {
		require.Less(t, len(out.Key)+len(out.Value), 1<<20-1000)
		keys[string(out.Key)] = true
		rec := recordOf(out)
		rec.Headers = out.Headers
		n, err := reader.Read(rec)
		require.NoError(t, err)
		if i < len(records)-1 {
			require.Equal(t, wire.Notice{}, n)
		} else {
			require.Equal(t, wire.Notice{Command: sent}, n)
		}
		n, err = wire.ParseNotice(rec)
		require.NoError(t, err)
		require.Equal(t, wire.Notice{}, n, "who follows requests only passes over it")
	}
	tombstones, err := sent.Tombstones()
	require.NoError(t, err)
	var last wire.Notice
	for _, out := range tombstones {
		delete(keys, string(out.Key))
		last, err = reader.Read(recordOf(out))
		require.NoError(t, err)
	}
	require.Empty(t, keys)
	require.Equal(t, wire.Notice{Deleted: "gdpr-1"}, last)
	_, err = reader.Read(ingest.Record{Topic: "status", Offset: 3, Key: []byte("order/gdpr-1/0"), Value: []byte("{}")})
	require.ErrorContains(t, err, "status/0@3")
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
		summary, err := command.Search(t.Context(), secret, os.DirFS(dir), nil)
		require.NoError(t, err)
		require.Equal(t, hits, summary.Hits)
		require.EqualValues(t, 1, summary.Files)
	}
	_, err = command.Search(t.Context(), secret, os.DirFS(filepath.Join(dir, "missing")), nil)
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

	// An answer beside the request's own status, whatever the request is called.
	for _, id := range []string{"ack", "order", "gdpr-1"} {
		entry.RequestID = id
		refused := entry.Refuse(deletions.RejectedConflict, time.Unix(6, 0))
		value, err := refused.Encode()
		require.NoError(t, err)
		n, err := wire.ParseNotice(ingest.Record{Key: []byte(refused.Key()), Value: value})
		require.NoError(t, err)
		require.Equal(t, wire.Notice{Status: &refused}, n)
	}

	for key, want := range map[string]wire.Notice{
		string(wire.CommandTombstone("gdpr-1").Key): {Deleted: "gdpr-1"},
		ack.Key(): {},
		"gdpr-1":  {},
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

// A role with another secret would find nothing of what it searches for, whatever
// it holds, and say so in good faith.
func TestACommandTellsAnotherSecret(t *testing.T) {
	ours, theirs := lethe.Secret{1}, lethe.Secret{2}
	command := &wire.Command{RequestID: "gdpr-1", SecretCheck: wire.SecretCheck(ours)}
	require.NoError(t, command.Shares(ours))
	require.ErrorIs(t, command.Shares(theirs), wire.ErrSecret)
	require.NoError(t, (&wire.Command{}).Shares(theirs))
}

func TestInstanceRoundTrip(t *testing.T) {
	sent := wire.Instance{Role: "train", Identity: "0a", Run: "1", TakeOver: true}
	out, err := sent.Record()
	require.NoError(t, err)
	n, err := wire.ParseNotice(recordOf(out))
	require.NoError(t, err)
	sent.Format = n.Instance.Format
	require.Equal(t, wire.Notice{Instance: &sent}, n)
	out.Key = []byte("!instance/score")
	_, err = wire.ParseNotice(recordOf(out))
	require.ErrorContains(t, err, "another role than the key")
	out.Value = nil
	n, err = wire.ParseNotice(recordOf(out))
	require.NoError(t, err)
	require.Equal(t, wire.Notice{}, n)
}
