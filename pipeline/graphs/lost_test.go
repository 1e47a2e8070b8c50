package graphs

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
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
