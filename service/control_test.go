package service_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
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
	require.Zero(t, s.naming(bus.Control, string(gone[0])))
	s.Stop()

	requireAudited(t, c)
	s = start(t, c)
	s.ask(request(t, "two", servicetest.LabelledIllicit(stream, 2)[0]))
	require.Equal(t, deletions.Verified, s.Outcome("two"))
	require.Equal(t, []string{"one", "two"}, keysFor(t, s.Client(), bus.ErasureStatus))
	require.Subset(t, keysFor(t, s.Client(), bus.Control), []string{"!instance/view", "!ledger/one/0"})
	s.Stop()
	requireAudited(t, c)
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

func requireAudited(t *testing.T, c configs.Config) {
	t.Helper()
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}
