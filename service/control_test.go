package service_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service/servicetest"
)

// What users read of erasures is where their requests stand and nothing else; what processes say to each
// other holds nothing of what was erased. The directory passes the audit, and goes on.
func TestUsersReadStatusesAlone(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 41)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	gone := servicetest.LabelledIllicit(stream, 1)
	require.Equal(t, deletions.Verified, s.Erase("one", lethe.ScopeStubs, gone[0]))
	require.Equal(t, []string{"one"}, keysFor(t, s.Client(), bus.ErasureStatus))
	require.Subset(t, keysFor(t, s.Client(), bus.Control), []string{"!instance/view", "!ledger/one/0", "!settings/graphs"})
	require.Zero(t, countNaming(s, bus.Control, string(gone[0])))
	s.Stop()

	servicetest.Audited(t, audit.Options{Config: c})
	s = start(t, c)
	submit(s, request(t, "two", servicetest.LabelledIllicit(stream, 2)[0]))
	require.Equal(t, deletions.Verified, s.Outcome("two"))
	require.Equal(t, []string{"one", "two"}, keysFor(t, s.Client(), bus.ErasureStatus))
	require.Subset(t, keysFor(t, s.Client(), bus.Control), []string{"!instance/view", "!ledger/one/0"})
	s.Stop()
	servicetest.Audited(t, audit.Options{Config: c})
	s = start(t, c)
	require.Equal(t, deletions.Verified, s.StatusOf("one").State)
}

// keysFor are the keys of the records that a topic has, ascending, markers included.
func keysFor(t *testing.T, client *bus.Client, topic bus.Topic) []string {
	t.Helper()
	has := make(map[string]bool)
	require.NoError(t, client.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
		if has[string(rec.Key)] = true; rec.Tombstone() {
			delete(has, string(rec.Key))
		}
		return nil
	}))
	var out []string
	for key := range has {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// A reader of predictions that was away during an erasure finds no tombstone when it comes back. It takes the steps of
// docs/topics.md, Catch up after an absence: a status that names nobody says that it has to, the topic says of what.
func TestAReaderThatWasAwayCatchesUp(t *testing.T) {
	t.Parallel()
	r := start(t, servicetest.SmallConfig(t, t.TempDir()))
	stream := servicetest.SmallStream(t, 3, 40, 3)
	r.Replay(stream)
	held, positions, statuses := r.Newest(bus.Predictions), make(map[int]int64), make(map[int]int64)
	nothing := func(ingest.Record) error { return nil }
	require.NoError(t, r.Client().ReadNew(t.Context(), bus.Predictions, positions, nothing))
	require.NoError(t, r.Client().ReadNew(t.Context(), bus.ErasureStatus, statuses, nothing))

	gone := stream.Steps[1].Transactions[0].ID
	require.Contains(t, held, string(gone))
	require.Equal(t, deletions.Verified, r.Erase("away", lethe.ScopeStubs, gone))
	require.Equal(t, deletions.Verified, r.Outcome("away"))

	// 1. Statuses since: is one verified?
	verified := false
	require.NoError(t, r.Client().ReadNew(t.Context(), bus.ErasureStatus, statuses, func(rec ingest.Record) error {
		require.NotContains(t, string(rec.Value), string(gone))
		if servicetest.IsControl(rec) || rec.Tombstone() {
			return nil
		}
		s, err := deletions.DecodeStatus(rec.Value)
		verified = verified || err == nil && s.State == deletions.Verified
		return nil
	}))
	require.True(t, verified)
	// What is new in the topic does not say what is gone.
	require.NoError(t, r.Client().ReadNew(t.Context(), bus.Predictions, positions, func(rec ingest.Record) error {
		require.NotEqual(t, string(gone), string(rec.Key))
		return nil
	}))
	// 2. The topic from its beginning: whatever it does not have goes.
	now := r.Newest(bus.Predictions)
	for id := range held {
		if _, there := now[id]; !there {
			delete(held, id)
		}
	}
	require.NotContains(t, held, string(gone))
	require.NotEmpty(t, held)
}
