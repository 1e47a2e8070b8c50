package graphs

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/cutting"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// takesOver stops process one, which another one follows.
func (c *crew) takesOver(name string) {
	c.Helper()
	c.stops["one"]()
	c.group.Lead(name)
	c.before.Store(nil)
}

// Who leads ends after it has published slices and before the log says so. Nobody else is told before that how far it
// is, so that who takes over cuts and commits to them itself.
func TestTheLogCommitsToSlicesThatWhoLedBeforePublished(t *testing.T) {
	c := twoProcesses(t)
	hangs := c.before.hangs(bus.Log)
	c.settle(2)
	c.fill(3)
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	c.takesOver("two")
	c.until(c.roles["two"], "three steps", threeSteps)
	for _, at := range []lethe.Timestep{1, 2} {
		of := func(leaf translog.Leaf) bool {
			s, is := leaf.(translog.Slice)
			return is && s.Timestep == at
		}
		require.Eventually(t, func() bool { return len(c.leaves(of)) == shards }, 30*time.Second, 5*time.Millisecond, at)
	}
}

// A process that was killed between the marks of what it has published and the leaves for it commits to that at its
// next start.
func TestSlicesThatAreMarkedAsPublishedAreCommittedTo(t *testing.T) {
	d, dir := deploy(t), t.TempDir()
	r, stop := d.run(dir)
	d.settled(r, 1)
	stop()
	o := d.options(dir).agreed()
	store, err := openSnapshots(t.Context(), o)
	require.NoError(t, err)
	defer store.Close()
	_, kept, err := disk.OpenLedger(o.FS, t.TempDir(), time.Now)
	require.NoError(t, err)
	defer kept.Close()
	signer, err := translog.NewSigner("lethe", o.Erasure.SigningKey)
	require.NoError(t, err)
	log := translog.NewLog(disk.KV(kept), signer)
	p := &publish.Publisher{
		Encoder: publish.Encoder{
			Store: store, Cutter: &cutting.Cutter{Cut: cutting.Cut{Shards: o.Partition.Shards, Repair: o.Repair}},
		},
		Log: log,
	}
	require.NoError(t, p.CommitMissing())
	require.NoError(t, p.CommitMissing(), "again")
	published, err := p.Last(1)
	require.NoError(t, err)
	var digests []lethe.Digest
	require.NoError(t, log.Each(func(_ int64, leaf translog.Leaf) error {
		digests = append(digests, leaf.(translog.Slice).Digest)
		return nil
	}))
	require.Equal(t, published.Slices, digests)
}

// What somebody did through the API is deleted from control.v1 once log.v1 has it, and not before: who takes over finds
// it in one or the other.
func TestWhatPeopleDoOutlivesWhoLeads(t *testing.T) {
	c := twoProcesses(t)
	hangs := c.before.hangs(bus.Log)
	rec, err := wire.Access{
		Deed: "look", At: time.Unix(1, 0), Actor: lethe.Digest{7}, Request: lethe.Digest{9},
	}.Record("1")
	require.NoError(t, err)
	c.send(bus.Control, rec)
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, c.topics.Compact())
	c.takesOver("two")
	accesses := func() int {
		return len(c.leaves(func(leaf translog.Leaf) bool { return leaf.Kind() == translog.KindAccess }))
	}
	require.Eventually(t, func() bool { return accesses() == 1 }, 30*time.Second, 5*time.Millisecond)
}

// Who leads ends once it has published a graph with a late transaction, before others are told how far it is. Who takes
// over has still to read that transaction, and publishes nothing without it: what was predicted of it would be
// forgotten, and predicted once more.
func TestWhatOthersMayHaveReadIsReadBeforeGraphsArePublished(t *testing.T) {
	c := newCrew(t)
	c.window = time.Millisecond
	c.begin("one")
	c.begin("two")
	c.twoSteps()
	hangs := c.after.hangs(bus.Snapshots)
	c.arrives(2, "late", 1, 2, 3)
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	graphs := func() (of []bool) {
		for _, m := range roletest.Messages(t, c.topics, bus.Snapshots) {
			if m.Key.Kind != wire.KindSnapshot || m.Key.Timestep != 2 || m.Deleted {
				continue
			}
			graph, err := canonical.DecodeSnapshot(m.Payload)
			require.NoError(t, err)
			of = append(of, slices.ContainsFunc(graph.Nodes, func(n lethe.SnapshotNode) bool { return n.ID == "late" }))
		}
		return of
	}
	require.Equal(t, []bool{false, true}, graphs())
	c.takesOver("two")
	c.settle(2)
	c.fill(3)
	c.until(c.roles["two"], "three steps", threeSteps)
	require.Equal(t, []bool{false, true, true}, graphs())
}

// ends carries out the one request from its retraining on, and returns what became of its second target.
func (c *crew) ends(leader role.Role) deletions.Outcome {
	c.Helper()
	states := []deletions.State{deletions.Swapped, deletions.Erased, deletions.Verified}
	for i, steps := range [][]deletions.Step{
		{deletions.StepPurged, deletions.StepSwapped}, {deletions.StepErased}, {deletions.StepScanned},
	} {
		for _, step := range steps {
			c.step(step)
		}
		c.until(leader, string(states[i]), func(s *role.Status) bool { // what was acknowledged before takes it further
			return slices.ContainsFunc(states[i:], func(state deletions.State) bool { return s.Erasures[state] == 1 })
		})
	}
	kept, err := ledgercopy.Read(c.Context(), c.topics)
	require.NoError(c, err)
	require.Len(c, kept.Entries["gdpr-1"].Progress.Outcomes, 2)
	return kept.Entries["gdpr-1"].Progress.Outcomes[1].Outcome
}

// A record that names a target comes while models are made anew, and is dropped and withdrawn: it was held. Who takes
// over then finds nothing of it in its topic, and was told.
func TestWhatWasDroppedOutlivesWhoLeads(t *testing.T) {
	c := twoProcesses(t)
	c.submit(transactionID(1, 0), "late")
	c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
	c.step(deletions.StepSuppressed)
	c.until(c.roles["one"], "retraining", inState(deletions.Retraining))
	c.arrives(3, "late", 1, 2, 3)
	c.fill(3)
	for name, r := range c.roles {
		c.until(r, name, func(s *role.Status) bool { return s.Count(lethe.Closed) == 2 })
	}
	require.NoError(t, c.topics.Compact())
	for _, rec := range roletest.Records(t, c.topics, bus.Transactions) {
		require.False(t, string(rec.Key) == "late" && !rec.Tombstone(), "it is withdrawn")
	}
	c.takesOver("two")
	c.until(c.roles["two"], "goes on", inState(deletions.Retraining))
	c.begin("one")
	require.Equal(t, deletions.OutcomeErased, c.ends(c.roles["two"]))
}

// A refused record that names a target is found in its topic and as a dead letter, and is withdrawn. Who leads ends
// before it says what became of the target: who takes over finds neither, and was told.
func TestWhatWasFoundInTheTopicsOutlivesWhoLeads(t *testing.T) {
	c := newCrew(t)
	var from, removed, hangs atomic.Bool
	c.before.set(func(ctx context.Context, name string, to bus.Topic) error {
		switch {
		case name != "one" || !from.Load():
		case to == bus.DeadLetters:
			removed.Store(true)
		case removed.Load() && to == bus.Control:
			hangs.Store(true)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	c.begin("one")
	c.begin("two")
	// It has another number of features.
	c.arrives(1, "refused", 1, 2)
	c.twoSteps()
	c.submit(transactionID(1, 0), "refused")
	c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
	c.step(deletions.StepSuppressed)
	c.until(c.roles["one"], "retraining", inState(deletions.Retraining))
	from.Store(true)
	c.step(deletions.StepPurged)
	c.step(deletions.StepSwapped)
	c.step(deletions.StepErased)
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	c.takesOver("two")
	c.begin("one")
	require.Equal(t, deletions.OutcomeErased, c.ends(c.roles["two"]))
}

// A process that leads again, after another one, is killed once it has said so: what it knows from when it led before
// is removed by then, or it would take that, at its next start, for more than it has said, and not begin.
func TestWhoIsKilledAsItTakesOverBeginsAgain(t *testing.T) {
	c := twoProcesses(t)
	c.stops["one"]()
	c.group.Lead("two")
	c.settle(2)
	c.fill(3)
	c.until(c.roles["two"], "three steps", threeSteps)
	committed := func(steps int) func() bool {
		return func() bool {
			return len(c.leaves(func(leaf translog.Leaf) bool { return leaf.Kind() == translog.KindSlice })) == steps*shards
		}
	}
	require.Eventually(t, committed(2), 30*time.Second, 5*time.Millisecond)
	hangs := c.after.hangs(bus.Journal)
	c.begin("one")
	c.stops["two"]()
	c.group.Lead("one")
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	c.stops["one"]()
	c.after.Store(nil)
	c.begin("one")
	c.settle(3)
	c.fill(4)
	require.Eventually(t, committed(3), 30*time.Second, 5*time.Millisecond)
}
