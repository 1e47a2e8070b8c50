package graphs

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// ownedBus is a bus to which somebody writes who may have been replaced.
type ownedBus struct {
	*roletest.Bus
	by wire.Owner
}

func (b ownedBus) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return b.Bus.Write(ctx, t, wire.OwnedBy(b.by, records))
}

// standing is what stands on graphs and slices for whoever knows of nobody that led, and under which revision.
func (c *crew) standing() (payloads map[wire.Key]string, revisions map[wire.Key]lethe.Revision) {
	c.Helper()
	payloads, revisions = make(map[wire.Key]string), make(map[wire.Key]lethe.Revision)
	for _, topic := range leadersTopics() {
		chunks := make(map[string]ingest.Record)
		for _, rec := range roletest.Records(c, c.topics, topic) {
			if key, _, of := wire.PartOf(rec); of && rec.Tombstone() {
				delete(chunks, string(rec.Key))
			} else if of {
				chunks[string(rec.Key)], revisions[key] = rec, 0
			}
		}
		for _, rec := range chunks {
			key, revision, _ := wire.PartOf(rec)
			payloads[key], revisions[key] = string(rec.Value), revision
		}
	}
	return payloads, revisions
}

// firstLeader is how who led first signs what it writes.
func (c *crew) firstLeader() (first wire.Owner) {
	c.Helper()
	for _, rec := range roletest.Records(c, c.topics, bus.Slices) {
		if by, tells := wire.OwnerOf(rec); tells && first == (wire.Owner{}) {
			first = by
		}
	}
	require.NotZero(c, first)
	return first
}

// Who led before may finish what it wrote once another one leads. Whatever that is, who leads says again what stands
// there, under a revision that counts more than its; also if it was written while nobody led.
func TestWhatAReplacedLeaderWroteOverIsPublishedAgain(t *testing.T) {
	for name, leads := range map[string]string{"while another one leads": "two", "while nobody leads": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := twoProcesses(t)
			c.group.Lead("two")
			c.until(c.roles["two"], "leads", func(s *role.Status) bool {
				return !slices.Contains(s.LeftToLeader, bus.Erasures)
			})
			c.settle(2)
			c.fill(3)
			for name, r := range c.roles {
				c.until(r, name, threeSteps)
			}
			want, _ := c.standing()
			require.Len(t, want, 2*shards+2+3)
			if leads == "" {
				c.stops["two"]()
			}
			one := ownedBus{c.topics, c.firstLeader()}
			writes := func(partitions int, m wire.Message) {
				require.NoError(t, wire.Publish(t.Context(), one, partitions, m))
			}
			slice := wire.Key{Kind: wire.KindSlice, Timestep: 1}
			writes(2, wire.Message{Key: slice, Revision: 5, Payload: []byte("of before")})
			writes(2, wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: 1, Timestep: 2}, Deleted: true})
			unknown := wire.Key{Kind: wire.KindSnapshot, Timestep: 9}
			writes(1, wire.Message{Key: unknown, Revision: 3, Payload: []byte("of before")})
			writes(1, wire.Message{Key: wire.Key{Kind: wire.KindManifest, Timestep: 8}, Deleted: true})
			if leads == "" {
				c.group.Lead("one")
			}
			require.Eventually(t, func() bool {
				got, _ := c.standing()
				return maps.Equal(got, want)
			}, 30*time.Second, 5*time.Millisecond)
			_, revisions := c.standing()
			require.Greater(t, revisions[slice], lethe.Revision(5))
		})
	}
}

// What the leader has looked at is not looked at again by the next one, which publishes again what the journal asked
// for last, and nothing else.
func TestWhatWasLookedAtIsAnnounced(t *testing.T) {
	c := twoProcesses(t)
	c.until(c.roles["one"], "announced", func(*role.Status) bool {
		ends, err := bus.EndsOf(t.Context(), c.topics, leadersTopics()...)
		positions := c.group.Positions()
		for tp, end := range ends {
			if end > 0 && positions[tp] != end {
				return false
			}
		}
		return err == nil
	})
	_, before := c.published(bus.Snapshots, bus.Slices)
	c.stops["one"]()
	c.group.Lead("two")
	c.settle(2)
	c.until(c.roles["two"], "two are settled", func(s *role.Status) bool { return s.Count(lethe.Settled) == 2 })
	_, after := c.published(bus.Snapshots, bus.Slices)
	last := (1 + shards + 1) + 1 // the first timestep, and the graph of the second
	require.LessOrEqual(t, after, before+last+shards+1)
}

// So it is with what stands on control.v1: what who leads commands of a request, and the copy of its entry. A
// process that reads the topic once it is compacted would find nothing else.
func TestWhatAReplacedLeaderSaidLateIsSaidAgain(t *testing.T) {
	c := twoProcesses(t)
	c.submit(transactionID(1, 0))
	c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
	first := ownedBus{c.topics, c.firstLeader()}
	newest := func() map[string]ingest.Record { return roletest.Newest(c, c.topics, bus.Control) }
	before := newest()
	c.group.Lead("two")
	c.until(c.roles["two"], "the other", inState(deletions.Accepted))
	c.step(deletions.StepSuppressed)
	c.until(c.roles["two"], "rewritten", inState(deletions.Retraining))
	want := newest()
	for _, key := range []string{"order/gdpr-1", "!ledger/gdpr-1/0"} {
		rec := before[key]
		require.NotEmpty(t, rec.Value, key)
		require.NoError(t, first.Write(t.Context(), bus.Control, []ingest.Outgoing{unowned(rec)}))
		require.Eventually(t, func() bool {
			return string(newest()[key].Value) == string(want[key].Value)
		}, 30*time.Second, 5*time.Millisecond, key)
	}
	kept, err := ledgercopy.Read(t.Context(), c.topics)
	require.NoError(t, err)
	require.Equal(t, deletions.Retraining, kept.Entries["gdpr-1"].State)
	// Of a request that has ended nothing is commanded any more.
	c.answer("train", deletions.StepPurged)
	c.answer("score", deletions.StepSwapped)
	for _, step := range []deletions.Step{deletions.StepErased, deletions.StepScanned} {
		c.step(step)
	}
	c.until(c.roles["two"], "verified", inState(deletions.Verified))
	order := ingest.Outgoing{Key: []byte("order/gdpr-1"), Value: before["order/gdpr-1"].Value}
	require.NoError(t, first.Write(t.Context(), bus.Control, []ingest.Outgoing{order}))
	require.Eventually(t, func() bool { return newest()["order/gdpr-1"].Tombstone() }, 30*time.Second, 5*time.Millisecond)
}

// unowned is a record as it was written before, without who wrote it.
func unowned(rec ingest.Record) ingest.Outgoing {
	out := ingest.Outgoing{Key: rec.Key, Value: rec.Value}
	for _, h := range rec.Headers {
		if h.Key != "lethe.owner" && h.Key != "lethe.count" {
			out.Headers = append(out.Headers, h)
		}
	}
	return out
}

// And with what those who ask for erasures are told: where a request stands, and whether a hold is in force. The next
// one that takes over has holds from there.
func TestWhatAReplacedLeaderToldLateIsToldAgain(t *testing.T) {
	c := twoProcesses(t)
	const status, hold = "gdpr-1", "!hold/case-7"
	told := func(key string, says string) {
		require.Eventually(t, func() bool {
			return strings.Contains(string(roletest.Newest(c, c.topics, bus.ErasureStatus)[key].Value), says)
		}, 30*time.Second, 5*time.Millisecond, "%s says %s", key, says)
	}
	c.put(bus.Erasures)(ingest.EncodeHold(ingest.Hold{
		Name: "case-7", Reason: "case 7", Transactions: []lethe.TransactionID{transactionID(1, 0)},
	}))
	told(hold, `"set_at"`)
	c.submit(transactionID(1, 0))
	c.until(c.roles["one"], "held", inState(deletions.Held))
	first, before := ownedBus{c.topics, c.firstLeader()}, roletest.Newest(c, c.topics, bus.ErasureStatus)
	c.group.Lead("two")
	c.put(bus.Erasures)(ingest.EncodeLift(ingest.Lift{Name: "case-7"}))
	c.until(c.roles["two"], "goes on", inState(deletions.Accepted))
	told(hold, `"lifted_at"`)
	told(status, `"state":"accepted"`)
	for _, key := range []string{status, hold} {
		require.NoError(t, first.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{unowned(before[key])}))
	}
	told(hold, `"lifted_at"`)
	told(status, `"state":"accepted"`)
	// A copy of before that stands behind the present one does not count either.
	require.NoError(t, first.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{unowned(before[hold])}))
	kept, err := ledgercopy.Read(t.Context(), c.topics)
	require.NoError(t, err)
	require.NotZero(t, kept.Holds["case-7"].LiftedAt)
	all, err := requests.Holds(t.Context(), c.topics)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NotZero(t, all[0].LiftedAt)
}

// Who led before may finish what it wrote of the transparency log once another one leads, which has other leaves there.
// The topic holds the log of who leads again; also if it was written while nobody led, and whoever leads next makes
// its log of the topic.
func TestWhatAReplacedLeaderLoggedLateIsPublishedAgain(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	for name, leads := range map[string]string{"while another one leads": "two", "while nobody leads": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := twoProcesses(t)
			c.submit(transactionID(1, 0))
			c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
			first, before := ownedBus{c.topics, c.firstLeader()}, roletest.Newest(c, c.topics, bus.Log)
			c.group.Lead("two")
			c.until(c.roles["two"], "the other", inState(deletions.Accepted))
			c.step(deletions.StepSuppressed)
			c.until(c.roles["two"], "rewritten", inState(deletions.Retraining))
			want := c.logged()
			size := len(before) - 1
			require.Greater(t, len(want.Leaves), size)
			if leads == "" {
				c.stops["two"]()
			}
			late := []ingest.Outgoing{unowned(before["checkpoint"])}
			for _, index := range []int{size, len(want.Leaves)} {
				late = append(late, ingest.Outgoing{Key: fmt.Appendf(nil, "%016d", index), Value: want.Leaves[size-1]})
			}
			require.NoError(t, first.Write(t.Context(), bus.Log, late))
			if leads == "" {
				c.group.Lead("one")
			}
			require.Eventually(t, func() bool {
				got := c.logged()
				return translog.Verify(translog.Evidence{Published: &got, Key: key, Older: want.Checkpoint}).OK
			}, 30*time.Second, 5*time.Millisecond)
		})
	}
}

// logged is the transparency log as its topic has it.
func (c *crew) logged() translog.Copy {
	c.Helper()
	got, err := translog.ReadPublished(c.Context(), c.topics)
	require.NoError(c, err)
	return got
}
