package graphs

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// A process that stands by hears at once what is suppressed, and comes later to what the leader had taken before. It
// takes that, and nothing that came since: so it has what the leader has, also once the request is taken back.
func TestAStandbySuppressesWhatTheLeaderHadNotTaken(t *testing.T) {
	c := newCrew(t)
	c.begin("one")
	c.fill(1)
	c.settle(1)
	c.fill(2)
	c.until(c.roles["one"], "two steps", twoSteps)
	c.submit(transactionID(1, 0))
	c.until(c.roles["one"], "accepted", func(s *role.Status) bool { return s.Erasures[deletions.Accepted] == 1 })
	other, value, err := ingest.EncodeTransaction(lethe.Transaction{
		ID: transactionID(1, 0), Timestep: 1, Features: []float32{9, 9, 9},
	})
	require.NoError(t, err)
	c.send(bus.Transactions, ingest.Outgoing{Key: other, Value: value})
	c.fill(3)
	c.until(c.roles["one"], "the third", func(s *role.Status) bool { return s.Count(lethe.Closed) == 2 })
	want, _ := c.standing()

	c.begin("two")
	c.until(c.roles["two"], "the third", func(s *role.Status) bool { return s.Count(lethe.Closed) == 2 })
	require.Equal(t, 7, c.roles["two"].Status().Steps[1].Nodes)
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions(transactionID(1, 0)),
	}, time.Time{})
	require.NoError(t, err)
	key, value, err := ingest.EncodeCancel(ingest.Cancel{RequestID: "gdpr-1", Digest: entry.Digest})
	require.NoError(t, err)
	c.send(bus.Erasures, ingest.Outgoing{Key: key, Value: value})
	c.until(c.roles["one"], "taken back", func(s *role.Status) bool { return s.Erasures[deletions.Cancelled] == 1 })
	c.stops["one"]()
	c.group.Lead("two")
	c.settle(2)
	c.until(c.roles["two"], "it leads", func(s *role.Status) bool { return s.Count(lethe.Settled) == 2 })
	require.Eventually(t, func() bool {
		got, _ := c.standing()
		maps.DeleteFunc(got, func(key wire.Key, _ string) bool { return key.Timestep == 2 && key.Kind != wire.KindSnapshot })
		return maps.Equal(got, want)
	}, 30*time.Second, 5*time.Millisecond)
}
