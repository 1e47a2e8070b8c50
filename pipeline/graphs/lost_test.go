package graphs

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/role/roletest"
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
		suppresses = store.Suppresses(secret.Suppression("first"))
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
	_, err = ledger.Take(entry)
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
