package graphs

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
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
	c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
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
	c.put(bus.Erasures)(ingest.EncodeCancel(ingest.Cancel{RequestID: "gdpr-1", Digest: entry.Digest}))
	c.until(c.roles["one"], "taken back", inState(deletions.Cancelled))
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

// What deletes a record with a key that is no id, and comes back as a record of its topic, deletes nothing that a graph
// has: it is passed over. A dead letter would keep the key, and if that names what is erased, it would be deleted again
// and again.
func TestWhatDeletesARecordWithAKeyThatIsNoIDIsPassedOver(t *testing.T) {
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	d.settled(r, 1)
	gone := transactionID(1, 0)
	d.submit(gone)
	d.until(r, "accepted", inState(deletions.Accepted))
	topics := []bus.Topic{bus.Transactions, bus.Labels}
	for _, key := range []string{"", "Ann Smith", "Ann " + string(gone), "a>b>c", strings.Repeat("Ann ", 300_000)} {
		for _, topic := range topics {
			d.send(topic, ingest.Outgoing{Key: []byte(key), Value: []byte(`{"id":"` + string(gone) + `"`)})
			require.Eventually(t, func() bool { return d.tombstones(topic, key) > 0 }, 30*time.Second, 5*time.Millisecond)
		}
	}
	want := make(map[string][]string)
	for _, topic := range topics {
		partitions, err := d.topics.Partitions(t.Context(), topic)
		require.NoError(t, err)
		for p := range partitions {
			last := fmt.Sprintf("last/%s/%d", topic, p)
			d.send(topic, ingest.Outgoing{Key: []byte(last), Value: []byte("{"), Pinned: true, Partition: p})
			want[last] = []string{string(ingest.Unparseable)}
		}
	}
	require.Eventually(t, func() bool {
		letters := d.letterReasons()
		for last := range want {
			if letters[last] == nil {
				return false
			}
		}
		return true
	}, 30*time.Second, 5*time.Millisecond)
	for key, reasons := range d.letterReasons() {
		require.Equal(t, want[key], reasons, "key of %d bytes", len(key))
	}
	require.Equal(t, 1, d.tombstones(bus.Transactions, "Ann "+string(gone)))
}

// tombstones counts those of a key.
func (d *deployment) tombstones(topic bus.Topic, key string) (n int) {
	d.Helper()
	for _, rec := range roletest.Records(d, d.topics, topic) {
		if rec.Tombstone() && string(rec.Key) == key {
			n++
		}
	}
	return n
}
