package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
)

// The clock is set back by hours at every call in turn: nothing waits for the time of day
// to come again, and the receipts say the same.
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	m := &memo{}
	undisturbed := run(t, m, together(), 0, true)
	for at := 1; at <= undisturbed.calls; at += 3 {
		d := deploy(t)
		d.memo, d.setBack = m, at
		d.carryOut(together(), 0, true)
		for _, r := range together() {
			said := d.statement(r.RequestID)
			require.Equal(t, undisturbed.statement(r.RequestID).Counts, said.Counts)
			require.False(t, said.VerifiedAt.Before(said.RequestedAt))
			require.True(t, said.Elapsed.Ascending())
		}
	}
}

// A request that has failed is tried again after its delay, whatever the ledger's time of
// the failure says, and not before.
func TestAFailedRequestIsTriedAgainThoughTheClockIsSetBack(t *testing.T) {
	s := make(tries)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := deletions.Entry{RequestID: "one", History: []deletions.Change{{State: deletions.Failed, At: at}}}
	require.Equal(t, time.Second, s.waited(e, at.Add(time.Second)))
	back := at.Add(-3 * time.Hour)
	require.Zero(t, s.waited(e, back))
	require.Equal(t, time.Second, s.waited(e, back.Add(time.Second)))
	require.Equal(t, 2*time.Second, s.waited(e, back.Add(2*time.Second)))
	require.Zero(t, s.waited(e, back.Add(-time.Hour)), "once more")
}

// Requests wait for others of their batch for no longer than they were to, when the clock
// is set back meanwhile.
func TestABatchBeginsThoughTheClockIsSetBack(t *testing.T) {
	d := deploy(t)
	d.window = time.Minute
	require.NoError(t, d.boot())
	d.submit(lethe.ErasureRequest{RequestID: "one", Targets: lethe.Transactions("transaction-1")})
	for range 3 {
		require.NoError(t, d.round())
	}
	require.Equal(t, 1, d.Counts()[deletions.Suppressed])
	require.False(t, d.Due().IsZero())
	d.now = d.now.Add(-3 * time.Hour)
	require.NoError(t, d.Advance(d.Context()))
	require.Zero(t, d.Counts()[deletions.Suppressed])
}
