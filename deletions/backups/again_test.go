package backups_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// A target stands in a backup in an aborted transaction alone: no graph holds it, and it is asked for again.
func TestWhatAnAbortedTransactionHoldsInABackupIsAskedForAgain(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	kv, secret := memorykv.New(), lethe.Secret{1}
	ledger := deletions.NewLedger(kv, func() time.Time { return at })
	require.NoError(t, backups.Note(kv, ledger, "backup-1", at, nil))
	e, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "request", Targets: lethe.Transactions("aborted-1"),
	}, at)
	require.NoError(t, err)
	_, _, err = ledger.TakeAll([]deletions.Entry{e})
	require.NoError(t, err)
	_, err = ledger.TransitionAll([]string{"request"}, deletions.Accepted, nil)
	require.NoError(t, err)
	key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: "aborted-1", Timestep: 1, Label: lethe.Licit})
	require.NoError(t, err)
	topics := &fakeTopics{aborted: ingest.Record{Key: key, Value: value, Uncommitted: ingest.InAborted}}
	require.NoError(t, backups.Resume(t.Context(), backups.Deployment{
		Secret: secret, KV: kv, Ledger: ledger, Log: noLog{}, Bus: topics, Publish: func() error { return nil },
		Names: func(func(lethe.TransactionID)) error { return nil },
	}))
	require.Len(t, topics.written, 1)
	require.Contains(t, string(topics.written[0].Value), "aborted-1")
}

// fakeTopics hold one record, of labels, which an aborted transaction wrote.
type fakeTopics struct {
	aborted ingest.Record
	written []ingest.Outgoing
}

func (*fakeTopics) ReadAll(context.Context, bus.Topic, func(ingest.Record) error) error { return nil }

func (f *fakeTopics) ReadEvery(
	_ context.Context, topic bus.Topic, fn func(ingest.Record) error, _ func(*bus.Gap),
) error {
	if topic != bus.Labels {
		return nil
	}
	return fn(f.aborted)
}

func (f *fakeTopics) Write(_ context.Context, _ bus.Topic, records []ingest.Outgoing) error {
	f.written = append(f.written, records...)
	return nil
}

type noLog struct{}

func (noLog) Rewind() error                 { return nil }
func (noLog) Append(...translog.Leaf) error { return nil }
