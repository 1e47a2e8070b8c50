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

// A request is taken back, and the command that says so is deleted and compacted away, before a process that stands by
// comes to it. The copy of the ledger stays, and says it too.
func TestWhoMissesThatARequestWasTakenBackHearsItFromTheLedger(t *testing.T) {
	d := deploy(t)
	s, err := openStandby(t.Context(), d.options(t.TempDir()).agreed(), new(Heard))
	require.NoError(t, err)
	defer s.Close()
	target := lethe.Transactions("a")[0]
	e, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "back", Targets: []lethe.Target{target},
	}, time.Unix(1, 0))
	require.NoError(t, err)
	suppresses := wire.Command{
		RequestID: "back", Phase: wire.PhaseSuppress, SecretCheck: wire.SecretCheck(secret), Suppressed: e.Suppressed(),
	}
	require.NoError(t, s.command(&suppresses))
	require.True(t, s.store.Suppresses(secret.Suppressed(target)))
	hears := func(state deletions.State) {
		e.History, e.State = append(e.History, deletions.Change{At: time.Unix(2, 0), State: state}), state
		records, err := ledgercopy.Records(secret, e)
		require.NoError(t, err)
		d.send(bus.Control, records...)
		var heard []ingest.Record
		for _, out := range records {
			heard = append(heard, ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
		}
		require.NoError(t, s.hearLedger(t.Context(), heard))
	}
	hears(deletions.Accepted)
	require.True(t, s.store.Suppresses(secret.Suppressed(target)))
	hears(deletions.Cancelled)
	require.False(t, s.store.Suppresses(secret.Suppressed(target)))
	require.Empty(t, s.erasures)
}
