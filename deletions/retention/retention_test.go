package retention_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/retention"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

var secret = lethe.Secret{1}

// kept are two settled timesteps, of which the first one is too old.
type kept struct {
	*snapshot.Store
	ids []lethe.TransactionID
}

// Timesteps implements retention.Graphs.
func (k kept) Timesteps() []snapshot.Info {
	return []snapshot.Info{
		{Timestep: 1, State: lethe.Settled, Revision: 2, Reopened: 2},
		{Timestep: 2, State: lethe.Settled, Revision: 1, Reopened: 1},
	}
}

// Load implements retention.Graphs.
func (k kept) Load(t lethe.Timestep) (*snapshot.Content, error) {
	s := &lethe.Snapshot{Timestep: t}
	for _, id := range k.ids {
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{ID: id})
	}
	return &snapshot.Content{Snapshot: s}, nil
}

// topics keep what is asked for.
type topics struct{ asked []lethe.ErasureRequest }

// Write implements retention.Writer.
func (w *topics) Write(_ context.Context, _ bus.Topic, records []ingest.Outgoing) error {
	for _, rec := range records {
		event, err := ingest.DecodeErasure(ingest.Record{Key: rec.Key, Value: rec.Value}, ingest.DefaultLimits())
		if err != nil {
			return err
		}
		w.asked = append(w.asked, event.(ingest.Erasure).ErasureRequest)
	}
	return nil
}

// Where a backup was put back, the ledger knows requests for revisions that the graphs come to again, with other
// transactions. Under the same name nobody would carry them out.
func TestWhatTheLedgerKnowsOtherwiseIsAskedForUnderAnotherName(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	ledger := deletions.NewLedger(memorykv.New(), func() time.Time { return at })
	ask := func(ids ...lethe.TransactionID) lethe.ErasureRequest {
		store, err := snapshot.Open("/graphs", snapshot.Options{
			Config: snapshot.Defaults(), Secret: secret, FS: vfs.NewMem(), TransactionPartitions: 1, LabelPartitions: 1,
		})
		require.NoError(t, err)
		defer store.Close()
		out := new(topics)
		r := retention.Retention{
			Keep: 1, Most: 9, Scope: lethe.ScopeStubs, Secret: secret, Graphs: kept{store, ids}, Ledger: ledger, Out: out,
			Now: func() time.Time { return at },
		}
		require.NoError(t, r.Advance(t.Context()))
		require.NoError(t, r.Advance(t.Context()), "once")
		require.Len(t, out.asked, 1)
		require.Equal(t, lethe.Transactions(ids...), out.asked[0].Targets)
		return out.asked[0]
	}
	take := func(request lethe.ErasureRequest) {
		e, err := deletions.NewEntry(secret, request, at)
		require.NoError(t, err)
		_, _, err = ledger.TakeAll([]deletions.Entry{e})
		require.NoError(t, err, request.RequestID)
	}
	first := ask("b", "a")
	require.Equal(t, "retention-1-2-0", first.RequestID)
	take(first)
	require.Equal(t, first.RequestID, ask("b", "a").RequestID, "killed before that was noted")
	other := ask("c")
	require.Equal(t, "retention-1-2-0-1", other.RequestID)
	take(other)
	_, err := ledger.TransitionAll([]string{first.RequestID}, deletions.Cancelled, nil)
	require.NoError(t, err)
	again := ask("b", "a")
	require.Equal(t, "retention-1-2-0-2", again.RequestID, "that one was taken back")
	take(again)
}

// A request whose name holds the id of a target is refused, and nothing of its timestep would go: whatever transactions
// are named.
func TestNoTransactionKeepsItsTimestepByItsName(t *testing.T) {
	store, err := snapshot.Open("/graphs", snapshot.Options{
		Config: snapshot.Defaults(), Secret: secret, FS: vfs.NewMem(), TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(t, err)
	defer store.Close()
	at := time.Unix(1_700_000_000, 0)
	out := new(topics)
	r := retention.Retention{
		Keep: 1, Most: 1, Scope: lethe.ScopeStubs, Secret: secret, Out: out, Now: func() time.Time { return at },
		Graphs: kept{store, []lethe.TransactionID{"retention", "retent", "1", "b"}},
		Ledger: deletions.NewLedger(memorykv.New(), func() time.Time { return at }),
	}
	require.NoError(t, r.Advance(t.Context()))
	require.Len(t, out.asked, 4)
	names := make(map[string]bool)
	for _, request := range out.asked {
		_, err := deletions.NewEntry(secret, request, at)
		require.NoError(t, err, request.RequestID)
		names[request.RequestID] = true
	}
	require.Len(t, names, 4)
}
