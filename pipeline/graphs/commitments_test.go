package graphs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// leaves are those of log.v1 that are chosen.
func (d *deployment) leaves(chosen func(translog.Leaf) bool) (out []translog.Leaf) {
	d.Helper()
	log, err := translog.ReadPublished(d.Context(), d.topics)
	require.NoError(d, err)
	for _, text := range log.Leaves {
		leaf, err := translog.Decode(text)
		require.NoError(d, err)
		if chosen(leaf) {
			out = append(out, leaf)
		}
	}
	return out
}

// committed are the leaves of log.v1 that commit to digests.
func (d *deployment) committed() []translog.Leaf {
	d.Helper()
	kinds := []translog.Kind{translog.KindSetup, translog.KindSlice, translog.KindCheckpoint}
	return d.leaves(func(leaf translog.Leaf) bool { return slices.Contains(kinds, leaf.Kind()) })
}

func (d *deployment) say(list ...wire.Commitment) {
	d.Helper()
	for _, c := range list {
		rec, err := c.Record()
		require.NoError(d, err)
		d.send(bus.Control, rec)
	}
}

// The log commits to every slice that was published and to every model that train said,
// each once, whatever is read again after a restart.
func TestTheLogCommitsToWhatIsPublished(t *testing.T) {
	d, dir := deploy(t), t.TempDir()
	r, stop := d.run(dir)
	d.settled(r, 1)
	model := wire.Commitment{Component: 1, Timestep: 1, Lineage: lethe.Digest{1}, Digest: lethe.Digest{2}}
	again := model
	again.Digest = lethe.Digest{3}
	d.say(wire.Commitment{Setup: true, Digest: lethe.Digest{9}}, model, again, model)

	want := make([]translog.Leaf, 0, 2*shards)
	messages, _ := d.published(bus.Slices)
	for shard := range lethe.ShardID(shards) {
		m := messages[wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: 1}]
		want = append(want, translog.Slice{
			Timestep: 1, Shard: shard, Revision: 1, Digest: canonical.DigestOf(m.Payload),
		})
	}
	made := func(digest, replaces byte) translog.Leaf {
		c := translog.Checkpoint{
			Component: 1, Timestep: 1, Lineage: lethe.Digest{1}, Digest: lethe.Digest{digest},
		}
		if replaces > 0 {
			c.Replaces = lethe.Digest{replaces}
		}
		return c
	}
	want = append(want, translog.Setup{Digest: lethe.Digest{9}}, made(2, 0), made(3, 2), made(2, 3))
	complete := func() bool { return len(d.committed()) >= len(want) }
	require.Eventually(t, complete, 30*time.Second, 5*time.Millisecond)
	require.Equal(t, want, d.committed())
	stop()

	_, stop = d.run(dir)
	d.say(again)
	want = append(want, made(3, 2))
	require.Eventually(t, complete, 30*time.Second, 5*time.Millisecond)
	stop()
	require.Equal(t, want, d.committed())
}

// A process that hung as it committed to a model, while that went to another one, is not heard behind that one, also by
// a process that has read both before: the log would commit to what was unlearnt. It replaces nothing in the topic.
func TestTheLogDoesNotCommitToWhatAnEarlierOwnerSaysLate(t *testing.T) {
	d, dir := deploy(t), t.TempDir()
	model := func(generation int64, digest byte) wire.Commitment {
		return wire.Commitment{
			Component: 1, Timestep: 1, Lineage: lethe.Digest{digest}, Digest: lethe.Digest{digest},
			By: wire.Owner{Generation: generation, Instance: "one"},
		}
	}
	end := wire.Commitment{Setup: true, Digest: lethe.Digest{9}}
	said := func(last wire.Commitment) (digests []byte) {
		d.say(last)
		ended := func() bool {
			committed := d.committed()
			setup, is := committed[max(0, len(committed)-1)].(translog.Setup)
			return is && setup.Digest == last.Digest
		}
		require.Eventually(t, func() bool { return len(d.committed()) > 0 && ended() }, 30*time.Second, 5*time.Millisecond)
		for _, leaf := range d.committed() {
			if c, is := leaf.(translog.Checkpoint); is {
				digests = append(digests, c.Digest[0])
			}
		}
		return digests
	}
	_, stop := d.run(dir)
	d.say(model(1, 2), model(2, 3), model(1, 2))
	require.Equal(t, []byte{2, 3}, said(end))
	stop()
	d.run(dir)
	d.say(model(1, 2), model(2, 4))
	end.Digest = lethe.Digest{8}
	require.Equal(t, []byte{2, 3, 4}, said(end))
	keys := make(map[string]bool)
	for _, c := range []wire.Commitment{model(1, 2), model(2, 3), {Component: 1, Timestep: 1, Digest: lethe.Digest{2}}} {
		rec, err := c.Record()
		require.NoError(t, err)
		keys[string(rec.Key)] = true
	}
	require.Len(t, keys, 3)
}

// A timestep that an erasure empties has no slices any more, and the log says so.
func TestTheLogSaysThatSlicesAreGone(t *testing.T) {
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	d.settled(r, 1)
	var ids []lethe.TransactionID
	for i := range 7 {
		ids = append(ids, transactionID(1, i))
	}
	d.submit(ids...)
	d.until(r, "accepted", inState(deletions.Accepted))
	d.answer("score", deletions.StepSuppressed)
	gone := func() (n int) {
		for _, leaf := range d.committed() {
			if s, ok := leaf.(translog.Slice); ok && s.Digest.IsZero() && !s.Replaces.IsZero() {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return gone() == shards }, 30*time.Second, 5*time.Millisecond)
}

// What people did through the API of any process is in the log, once, and the records that said so are
// deleted; what is no deed of this version is passed over.
func TestWhatPeopleDoIsInTheLog(t *testing.T) {
	d, dir := deploy(t), t.TempDir()
	said := 0
	say := func(deed string) {
		said++
		rec, err := wire.Access{
			Deed: deed, At: time.Unix(int64(said), 0), Actor: lethe.Digest{7}, Request: lethe.Digest{9},
		}.Record(fmt.Sprint(said))
		require.NoError(t, err)
		d.send(bus.Control, rec)
	}
	logged := func() (deeds []translog.Deed) {
		log, err := translog.ReadPublished(t.Context(), d.topics)
		require.NoError(t, err)
		for _, text := range log.Leaves {
			leaf, err := translog.Decode(text)
			require.NoError(t, err)
			if a, is := leaf.(translog.Access); is {
				require.Equal(t, lethe.Digest{7}, a.Actor)
				require.Equal(t, lethe.Digest{9}, a.Request)
				deeds = append(deeds, a.Deed)
			}
		}
		return deeds
	}
	left := func() (keys []string) {
		newest := make(map[string]bool)
		for _, rec := range roletest.Records(t, d.topics, bus.Control) {
			if wire.IsAccess(rec) {
				newest[string(rec.Key)] = !rec.Tombstone()
			}
		}
		for key, there := range newest {
			if there {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys
	}
	say("submit")
	_, stop := d.run(dir)
	say("stare")
	say("look")
	want := []translog.Deed{translog.DeedSubmit, translog.DeedLook}
	await := func() {
		t.Helper()
		require.Eventually(t, func() bool { return len(logged()) >= len(want) && len(left()) == 1 }, 30*time.Second,
			5*time.Millisecond)
	}
	await()
	stop()
	// What was read is read again at a start, and said no second time.
	_, stop = d.run(dir)
	say("look")
	want = append(want, translog.DeedLook)
	await()
	stop()
	require.Equal(t, want, logged())
	require.Equal(t, []string{"!access/2"}, left())
}
