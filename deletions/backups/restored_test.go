package backups_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/internal/memorykv"
)

// What was done since the backup was made is neither in the stores nor in the topics that are put back, also if the
// state of its request is the same: that goes on, and does it again.
func TestWhatWasDoneSinceTheBackupIsDoneAgain(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return at }
	begun, kv := memorykv.New(), memorykv.New()
	ledger := deletions.NewLedger(begun, clock)
	states := []deletions.State{deletions.Accepted, deletions.Suppressed, deletions.Rewriting, deletions.Retraining}
	for id, through := range map[string]int{"goes-on": 3, "went-on": 3, "unlearnt": 4, "new": 1} {
		e, err := deletions.NewEntry(lethe.Secret{1}, lethe.ErasureRequest{
			RequestID: id, Targets: lethe.Transactions(lethe.TransactionID("of " + id)),
		}, at)
		require.NoError(t, err)
		_, _, err = ledger.TakeAll([]deletions.Entry{e})
		require.NoError(t, err)
		for _, state := range states[:through] {
			_, err = ledger.TransitionAll([]string{id}, state, nil)
			require.NoError(t, err)
		}
	}
	before, err := ledger.List()
	require.NoError(t, err)

	maps.Copy(kv.Rows, begun.Rows)
	newest := deletions.NewLedger(kv, clock)
	for _, id := range []string{"goes-on", "went-on"} {
		_, err = newest.UpdateAll([]string{id}, func(_ int, p *deletions.Progress) {
			p.AddTimestep(3)
			p.Revisions, p.Withdrawn = []lethe.Revision{4}, true
		})
		require.NoError(t, err)
	}
	for _, id := range []string{"went-on", "new"} {
		_, err = newest.TransitionAll([]string{id}, map[string]deletions.State{
			"went-on": deletions.Retraining, "new": deletions.Suppressed,
		}[id], nil)
		require.NoError(t, err)
	}
	for _, state := range []deletions.State{deletions.Swapped, deletions.Erased, deletions.Verified} {
		_, err = newest.TransitionAll([]string{"unlearnt"}, state, nil)
		require.NoError(t, err)
	}
	require.NoError(t, backups.Note(kv, newest, "backup-1", at, before))

	r, found, err := backups.Last(kv)
	require.NoError(t, err)
	require.True(t, found)
	require.ElementsMatch(t, []string{"went-on", "new"}, r.UnderWay)
	require.ElementsMatch(t, []string{"went-on", "unlearnt"}, r.Unlearnt)
	require.Equal(t, r.Unlearnt, r.UnlearntFor(r.Prefix()+"0"))
	require.Empty(t, r.UnlearntFor("another"))
	for id, kept := range map[string]bool{"goes-on": false, "went-on": true} {
		e, err := newest.Get(id)
		require.NoError(t, err)
		require.Equal(t, kept, len(e.Progress.Revisions) > 0, id)
		require.Equal(t, kept, e.Progress.Withdrawn, id)
		require.Equal(t, []lethe.Timestep{3}, e.Progress.Timesteps, "what was planned stays")
	}
}
