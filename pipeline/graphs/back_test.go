package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// heardOf is a request as a process that stands by hears of it.
type heardOf struct {
	*testing.T
	*deployment
	s *standby
	e deletions.Entry
}

// stoodBy has a process that stands by hear that a request suppresses its targets.
func (d *deployment) stoodBy(t *testing.T, s *standby, id string, targets ...lethe.Target) *heardOf {
	e, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: targets}, time.Unix(1, 0))
	require.NoError(t, err)
	a := &heardOf{t, d, s, e}
	a.hears(deletions.Accepted)
	require.NoError(t, s.command(&wire.Command{
		RequestID: id, Phase: wire.PhaseSuppress, SecretCheck: wire.SecretCheck(secret), Suppressed: a.e.Suppressed(),
		Subjects: a.e.Subjects,
	}))
	return a
}

// hears has the process hear from the copy of the ledger in which state the request is.
func (a *heardOf) hears(state deletions.State) {
	a.e.History, a.e.State = append(a.e.History, deletions.Change{At: time.Unix(2, 0), State: state}), state
	records, err := ledgercopy.Records(secret, a.e)
	require.NoError(a.T, err)
	a.send(bus.Control, records...)
	var heard []ingest.Record
	for _, out := range records {
		heard = append(heard, ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
	}
	require.NoError(a.T, a.s.hearLedger(a.T.Context(), heard))
}

// A request is taken back, or has to wait for a hold, and the command that says so is deleted and compacted away
// before a process that stands by comes to it. The copy of the ledger stays, and says it too.
func TestWhoMissesThatARequestWasTakenBackHearsItFromTheLedger(t *testing.T) {
	for _, state := range []deletions.State{deletions.Cancelled, deletions.Held} {
		d := deploy(t)
		s, err := openStandby(t.Context(), d.options(t.TempDir()).agreed(), new(Heard))
		require.NoError(t, err)
		target := lethe.Transactions("a")[0]
		a := d.stoodBy(t, s, "back", target)
		require.True(t, s.store.Suppressed().Has(secret.Suppressed(target)))
		a.hears(state)
		require.False(t, s.store.Suppressed().Has(secret.Suppressed(target)), state)
		require.Empty(t, s.erasures)
		require.NoError(t, s.Close())
	}
}

// A request waits for a hold and goes on before a process that stands by hears of the hold. What came meanwhile was
// taken where the leader is.
func TestWhoMissesAHoldSuppressesAsTheLeaderDidAfterIt(t *testing.T) {
	d := deploy(t)
	s, err := openStandby(t.Context(), d.options(t.TempDir()).agreed(), new(Heard))
	require.NoError(t, err)
	defer s.Close()
	target := lethe.Transactions("a")[0]
	a := d.stoodBy(t, s, "held", target)
	a.hears(deletions.Suppressed)
	require.True(t, s.store.Suppressed().Has(secret.Suppressed(target)))
	a.e.History = append(a.e.History, deletions.Change{At: time.Unix(2, 0), State: deletions.Held})
	a.e.Attempts++
	a.hears(deletions.Accepted)
	require.False(t, s.store.Suppressed().Has(secret.Suppressed(target)), "its command says from where on")
	again := wire.Command{
		RequestID: "held", Attempt: 1, Phase: wire.PhaseSuppress, SecretCheck: wire.SecretCheck(secret),
		Suppressed: a.e.Suppressed(), Taken: map[string]int64{"transactions.v1/0": 3},
	}
	require.NoError(t, s.command(&again))
	require.False(t, s.store.Suppressed().Has(secret.Suppressed(target)), "the leader had taken more")
	again.Taken = nil
	a.hears(deletions.Suppressed)
	require.NoError(t, s.command(&again))
	require.True(t, s.store.Suppressed().Has(secret.Suppressed(target)))
}

// What another request suppresses, whose command was heard, stays suppressed, as it does where the leader is.
func TestWhatAnotherRequestSuppressesIsNotTakenBack(t *testing.T) {
	d := deploy(t)
	s, err := openStandby(t.Context(), d.options(t.TempDir()).agreed(), new(Heard))
	require.NoError(t, err)
	defer s.Close()
	both, alone := lethe.Transactions("both")[0], lethe.Transactions("alone")[0]
	a := d.stoodBy(t, s, "back", both, alone, lethe.SubjectThrough("customer", 9))
	d.stoodBy(t, s, "another", both, lethe.SubjectThrough("customer", 4))
	a.hears(deletions.Cancelled)
	require.True(t, s.store.Suppressed().Has(secret.Suppressed(both)))
	require.True(t, s.store.Suppressed().Has(secret.Suppressed(lethe.SubjectThrough("customer", 4))))
	require.False(t, s.store.Suppressed().Has(secret.Suppressed(alone)))
}
