package graphs

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// A store that took nothing before a request came was not lost: killed between the
// ledger's entry and the suppression, the role begins again and suppresses. One that was
// lost meanwhile is refused, at every start.
func TestAnEmptyStoreIsNotALostOne(t *testing.T) {
	o := Options{Dir: "/build", Bus: roletest.NewBus(nil)}
	ledger := deletions.NewLedger(ledgerKV{roletest.NewStore()}, time.Now)
	start := func(fs vfs.FS) (suppresses bool, err error) {
		store, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
			Config: snapshot.Defaults(), Secret: secret, FS: fs, TransactionPartitions: 1, LabelPartitions: 1,
		})
		require.NoError(t, err)
		err = suppressAgain(t.Context(), o, store, ledger)
		suppresses = store.Suppressed().Has(secret.Suppression("first"))
		require.NoError(t, store.Close())
		return suppresses, err
	}
	disk := vfs.NewMem()
	_, err := start(disk)
	require.NoError(t, err)

	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions("first"),
	}, time.Now())
	require.NoError(t, err)
	_, _, err = ledger.TakeAll([]deletions.Entry{entry})
	require.NoError(t, err)
	_, err = ledger.TransitionAll([]string{"gdpr-1"}, deletions.Accepted, func(int, *deletions.Entry) {})
	require.NoError(t, err)

	suppresses, err := start(disk)
	require.NoError(t, err)
	require.True(t, suppresses)
	lost := vfs.NewMem()
	for range 2 {
		_, err = start(lost)
		require.ErrorIs(t, err, ErrLost)
	}
}

// A backup may have been made where a process was killed between the rewriting of the graphs and their publishing. Put
// back, nobody may be left who would publish them.
func TestWhatWasRewrittenAndNotPublishedIsPublished(t *testing.T) {
	d, dir := deploy(t), t.TempDir()
	r, stop := d.run(dir)
	for at := lethe.Timestep(1); at <= 2; at++ {
		d.fill(at)
		d.settle(at)
	}
	d.until(r, "settled", func(s *role.Status) bool { return s.Count(lethe.Settled) == 2 })
	stop()

	store, err := openSnapshots(t.Context(), d.options(dir).agreed())
	require.NoError(t, err)
	before := store.Timesteps()
	require.NoError(t, publish.Rewritten(store))
	require.Equal(t, before, store.Timesteps(), "all is published as it is")
	require.NoError(t, store.Erase(t.Context(), lethe.Transactions(transactionID(1, 0))))
	require.NoError(t, publish.Rewritten(store))
	after := store.Timesteps()
	require.Greater(t, after[0].Reopened, before[0].Revision)
	require.Equal(t, before[1], after[1])
	require.NoError(t, publish.Rewritten(store))
	require.Equal(t, after, store.Timesteps(), "a start that was killed here is made again")
	require.NoError(t, store.Close())

	_, stop = d.run(dir)
	key := wire.Key{Kind: wire.KindManifest, Timestep: 1}
	require.Eventually(t, func() bool {
		newest, _ := d.published(bus.Snapshots)
		return newest[key].Revision == after[0].Revision
	}, time.Minute, time.Millisecond)
	stop()
}

// W136: a store is lost, and a request for all transactions of a timestep is read before they are. They were dropped,
// so that the timestep did not return, and its published graph stayed for ever.
func TestALostStoreIsRebuiltBeforeRequestsAreProcessed(t *testing.T) {
	d := deploy(t)
	r, stop := d.run(t.TempDir())
	d.settled(r, 1)
	d.settled(r, 2)
	stop()
	var gone []lethe.TransactionID
	for i := range 7 {
		gone = append(gone, transactionID(1, i))
	}
	d.submit(gone...)
	d.answer("score", deletions.StepSuppressed)

	r, err := New(t.Context(), d.options(t.TempDir()))
	require.NoError(t, err)
	session, err := roletest.Begin(t.Context(), r)
	require.NoError(t, err)
	requests := bus.Batch{
		Source: bus.TopicPartition{Topic: bus.Erasures}, Next: 1, End: 1,
		Records: roletest.Records(t, d.topics, bus.Erasures),
	}
	require.NoError(t, r.Arrived(t.Context(), requests, false))
	graph := wire.Key{Kind: wire.KindSnapshot, Timestep: 1}
	for polls := 0; ; polls++ {
		busy, err := session.Poll(t.Context())
		require.NoError(t, err)
		newest, _ := d.published(bus.Snapshots)
		if _, is := newest[graph]; !is {
			break
		}
		require.Less(t, polls, 5000, "the graph of the timestep stays")
		if !busy {
			time.Sleep(time.Millisecond)
		}
	}
	require.NoError(t, session.Close())
	require.NoError(t, r.Close())
}

// W154: a lost store may read partitions in another order, so that a timestep closes with records that were late
// before. Other roles have its first revision, and would ignore another graph of that revision.
func TestALostStoreBeginsBehindEveryPublishedRevision(t *testing.T) {
	d := deploy(t)
	r, stop := d.run(t.TempDir())
	d.settled(r, 1)
	d.settled(r, 2)
	stop()
	r, stop = d.run(t.TempDir())
	d.until(r, "all is published again", func(*role.Status) bool {
		newest, _ := d.published(bus.Snapshots, bus.Slices)
		for _, m := range newest {
			if m.Revision < 2 {
				return false
			}
		}
		return len(newest) == 2*(2+shards)
	})
	stop()
}

// The number of features of the first transaction is decided where a lost store finds it
// again, whatever the topics hold by then: that transaction may be gone.
func TestTheNumberOfFeaturesOutlivesTheStore(t *testing.T) {
	before := deploy(t)
	before.features = 0
	r, stop := before.run(t.TempDir())
	before.fill(1)
	before.fill(2)
	before.until(r, "the first transaction has it", func(s *role.Status) bool { return s.FeatureCount == 3 })
	stop()

	after := deploy(t)
	after.features = 0
	for _, rec := range roletest.Records(t, before.topics, bus.Journal) {
		after.send(bus.Journal, ingest.Outgoing{
			Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Pinned: true, Partition: rec.Partition,
		})
	}
	r, stop = after.run(t.TempDir())
	after.until(r, "the number", func(s *role.Status) bool { return s.FeatureCount == 3 })
	stop()
}

// narrow sends a transaction of fewer features than others.
func (d *deployment) narrow() {
	d.Helper()
	d.arrives(1, "narrow", 1)
}

// isLetter reports whether there is a dead letter under a key.
func (d *deployment) isLetter(key string) (is bool) {
	d.Helper()
	for _, rec := range roletest.Records(d, d.topics, bus.DeadLetters) {
		is = is || string(rec.Key) == key
	}
	return is
}

// The leader decides the number of features by the first transaction and ends before it has written the dead letter of
// one that has another. The process that takes over writes it, and writes none while it stands by.
func TestWhoTakesOverWritesTheDeadLettersOfTheWidth(t *testing.T) {
	c := newCrew(t)
	c.features = 0
	due := c.before.hangs(bus.DeadLetters)
	c.begin("one")
	c.begin("two")
	c.fill(1)
	c.until(c.roles["one"], "what was decided", func(s *role.Status) bool { return s.FeatureCount == 3 })
	c.narrow()
	require.Eventually(t, due.Load, 30*time.Second, 5*time.Millisecond)
	c.until(c.roles["two"], "what was decided", func(s *role.Status) bool { return s.FeatureCount == 3 })
	require.False(t, c.isLetter("narrow"))
	c.stops["one"]()
	c.group.Lead("two")
	require.Eventually(t, func() bool { return c.isLetter("narrow") }, 30*time.Second, 5*time.Millisecond)
	c.begin("one")
	c.until(c.roles["one"], "the width of who led before", func(s *role.Status) bool { return s.FeatureCount == 3 })
}
