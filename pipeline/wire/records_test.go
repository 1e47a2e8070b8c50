package wire_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// said makes a record of every kind that lethe's processes write of erasures and of themselves.
func said(t *testing.T) map[string]ingest.Outgoing {
	t.Helper()
	out := make(map[string]ingest.Outgoing)
	note := func(what string, rec ingest.Outgoing, err error) {
		require.NoError(t, err, what)
		out[what] = rec
	}
	secret := lethe.Secret{1}
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions("transaction-1"),
	}, time.Unix(1, 0))
	require.NoError(t, err)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	rec, err := wire.StatusRecord(entry.Status(), key)
	note("status", rec, err)
	// Whoever asks may call a request as what begins the keys of others.
	named := entry.Status()
	named.RequestID, named.State, named.Failure = "order", deletions.Rejected, deletions.RejectedConflict
	rec, err = wire.StatusRecord(named, key)
	note("status aside", rec, err)
	require.Regexp(t, "^order/", string(rec.Key))
	said := deletions.Position{At: time.Unix(1, 0)}
	hold, err := deletions.NewHold(secret, "case-7", "case 7", lethe.Transactions("a"), time.Time{}, said)
	require.NoError(t, err)
	rec, err = ledgercopy.HoldRecord(hold)
	note("hold", rec, err)
	signed := ingest.Record{Headers: []ingest.Header{{Key: "lethe.jws", Value: []byte("x")}}}
	rec, due, err := wire.RefusedControl(signed, &ingest.Refusal{Reason: ingest.BadSignature})
	require.True(t, due)
	note("refused", rec, err)
	rec, err = wire.Settings{Role: wire.Requests}.Record()
	note("how many must sign", rec, err)

	rec, err = wire.Settings{Role: "graphs"}.Record()
	note("settings", rec, err)
	rec, err = wire.Instance{Role: "view", Identity: "1"}.Record()
	note("instance", rec, err)
	rec, err = wire.Member{Role: "train", Identity: "1"}.Record()
	note("member", rec, err)
	rec, err = wire.Strike{Role: "train", Identity: "1", At: time.Unix(1, 0)}.Record()
	note("strike", rec, err)
	rec, err = wire.Barrier{Name: "1"}.Record()
	note("barrier", rec, err)
	rec, err = wire.Access{Deed: "look", At: time.Unix(1, 0)}.Record("1")
	note("access", rec, err)
	rec, err = wire.Commitment{Digest: lethe.Digest{1}}.Record()
	note("commitment", rec, err)
	copies, err := ledgercopy.Records(entry)
	note("copy of the ledger", copies[0], err)
	commands, err := (&wire.Command{RequestID: "gdpr-1"}).Records()
	note("command", commands[0], err)
	note("its tombstone", wire.CommandTombstone("gdpr-1"), nil)
	ack := deletions.NewAck("gdpr-1", "train", "1", deletions.StepPurged)
	value, err := ack.Encode()
	note("acknowledgement", ingest.Outgoing{Key: []byte(ack.Key()), Value: value}, err)
	return out
}

// forUsers are those of them that whoever asks for erasures is told.
func forUsers(what string) bool {
	switch what {
	case "status", "status aside", "hold", "refused", "how many must sign":
		return true
	default:
		return false
	}
}

// Users read what they asked for and nothing that lethe's processes say to each other.
func TestEveryRecordHasItsTopic(t *testing.T) {
	t.Parallel()
	topics, all := roletest.NewBus(nil), said(t)
	var records []ingest.Outgoing
	for what, rec := range all {
		want := bus.Control
		if forUsers(what) {
			want = bus.ErasureStatus
		}
		require.Equal(t, want, wire.RecordTopic(rec.Key, rec.Value), what)
		records = append(records, rec)
	}
	require.NoError(t, wire.PublishRecords(t.Context(), topics, records))
	for _, topic := range []bus.Topic{bus.Control, bus.ErasureStatus} {
		n := 0
		for _, rec := range roletest.Records(t, topics, topic) {
			n++
			require.Equal(t, topic, wire.RecordTopic(rec.Key, rec.Value))
		}
		require.Positive(t, n)
	}
}

// failing fails to write to a topic.
type failing struct {
	*roletest.Bus
	topic bus.Topic
}

var errAway = errors.New("away")

func (f failing) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t == f.topic {
		return errAway
	}
	return f.Bus.Write(ctx, t, records)
}

// Nobody is told of a state of which there is no copy: that would be a request whose ledger is lost.
func TestNobodyIsToldBeforeTheCopyIsThere(t *testing.T) {
	t.Parallel()
	all, topics := said(t), roletest.NewBus(nil)
	records := []ingest.Outgoing{all["status"], all["copy of the ledger"]}
	err := wire.PublishRecords(t.Context(), failing{topics, bus.Control}, records)
	require.ErrorIs(t, err, errAway)
	ends, err := topics.EndOffsets(t.Context(), bus.ErasureStatus)
	require.NoError(t, err)
	require.Equal(t, []int64{0}, ends)
}

// W126: an erasure takes 1,000 transactions of 4,096 features from a graph, or deletes it. None of its previous bytes
// stays on the topic.
func TestAnArtefactThatShrinksLeavesNothing(t *testing.T) {
	for name, after := range map[string]wire.Message{
		"replaced": {Revision: 2, Payload: []byte("small")}, "deleted": {Deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			topics := roletest.NewBus(nil)
			after.Key = wire.Key{Kind: wire.KindSnapshot, Timestep: 1}
			before := wire.Message{Key: after.Key, Revision: 1, Payload: make([]byte, 1000*4096*4+1<<20)}
			require.NoError(t, wire.Publish(t.Context(), topics, 1, before))
			require.NoError(t, wire.Publish(t.Context(), topics, 1, after))
			require.NoError(t, topics.Compact())
			for _, rec := range roletest.Records(t, topics, bus.Snapshots) {
				require.Less(t, len(rec.Value), 100)
			}
		})
	}
}
