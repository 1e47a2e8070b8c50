package service_test

import (
	"bytes"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
)

// What users read of erasures is where their requests stand and nothing else; what processes say to each
// other holds nothing of what was erased. A directory in which it all stood on one topic, as earlier versions
// had it, passes the audit, and goes on with everything where it belongs.
func TestUsersReadStatusesAlone(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 3, 50, 41)
	c := smallConfig(t, t.TempDir())
	s := start(t, c)
	s.replay(stream)
	gone := labelledIllicit(stream, 1)
	require.Equal(t, deletions.Verified, s.erase("one", lethe.ScopeStubs, gone[0]))
	require.Equal(t, []string{"one"}, keysFor(t, s.Client(), bus.ErasureStatus))
	require.Subset(t, keysFor(t, s.Client(), bus.Control), []string{"!instance/view", "!ledger/one/0", "!settings/graphs"})
	require.Zero(t, s.naming(bus.Control, string(gone[0])))
	s.stop()

	asEarlier(t, c)
	requireAudited(t, c)
	s = start(t, c)
	s.ask(request(t, "two", labelledIllicit(stream, 2)[0]))
	require.Equal(t, deletions.Verified, s.outcome("two"))
	require.Equal(t, []string{"!settings/graphs", "one", "two"}, keysFor(t, s.Client(), bus.ErasureStatus),
		"the guard is left")
	require.Subset(t, keysFor(t, s.Client(), bus.Control), []string{"!instance/view", "!ledger/one/0", "!moved"})
	s.stop()
	requireAudited(t, c)
	s = start(t, c)
	require.Equal(t, deletions.Verified, s.statusOf("one").State)
}

// A process of an earlier version that still runs, or runs again, is found by what it says where nobody
// listens any more. What it said counts with the next start, where it is newer.
func TestAProcessOfAnEarlierVersionIsFound(t *testing.T) {
	t.Parallel()
	c := smallConfig(t, t.TempDir())
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	s := start(t, c)
	requireReady := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(page(t, c.HTTP.Address, "/readyz"), want) },
			20*time.Second, 20*time.Millisecond, want)
	}
	requireReady("topics: ok")
	strike, err := wire.Strike{Role: "train", Identity: "1", At: time.UnixMilli(1).UTC()}.Record()
	require.NoError(t, err)
	require.NoError(t, s.Client().Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{
		{Key: []byte("!instance/view")}, {Key: []byte("!hold/case-7"), Value: []byte("no code")},
	}))
	require.NoError(t, s.Client().Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{strike}))
	requireReady("topics: not ok: lethe.erasure-status.v1: a process of an earlier version of lethe still runs: " +
		"it wrote at offset 2 ")
	s.stop()
	s = start(t, c)
	requireReady("topics: ok")
	require.Contains(t, keysFor(t, s.Client(), bus.Control), string(strike.Key))
	require.NotContains(t, keysFor(t, s.Client(), bus.ErasureStatus), string(strike.Key))
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

// asEarlier puts a directory back to how a version without control.v1 would have written it.
func asEarlier(t *testing.T, c configs.Config) {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(c.SecretPath(), nil)
	require.NoError(t, err)
	opened(t, c, func(client *bus.Client) {
		wire.SealOf(secret, nil).On(client)
		var records []ingest.Outgoing
		require.NoError(t, client.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
			if !wire.IsMoved(rec) && !ingest.IsMarker(rec.Key) {
				records = append(records, ingest.Outgoing{
					Key: bytes.Clone(rec.Key), Value: bytes.Clone(rec.Value), Headers: slices.Clone(rec.Headers),
				})
			}
			return nil
		}))
		require.NoError(t, client.Write(t.Context(), bus.ErasureStatus, records))
		require.NoError(t, client.Admin().Delete(t.Context(), bus.Control))
	})
	require.NoError(t, os.Remove(service.TopicsPath(c.DataDir)))
}
