package coordinator

import (
	"bytes"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// A record that no reader of committed records gets is in the log all the same. Its erasure waits until the log
// is without it, and is not one of which nothing was held.
func TestErasureWaitsForRecordsThatAreNotCommitted(t *testing.T) {
	for _, uncommitted := range []ingest.Uncommitted{ingest.InAborted, ingest.BehindOpen} {
		t.Run(string(uncommitted), func(t *testing.T) {
			d := deploy(t)
			d.ticking = true
			d.bus.append(bus.Transactions, ingest.Outgoing{Key: []byte("stuck-7"), Value: []byte(`{"id":"order-77"}`)})
			d.bus.topics[bus.Transactions][0].Uncommitted = uncommitted
			d.bus.append(bus.Transactions, ingest.Outgoing{Key: []byte("stuck-7"), Value: []byte(`{"id":"order-78"}`)})
			d.submit(lethe.ErasureRequest{RequestID: "r", Targets: lethe.Transactions("order-77"), Scope: lethe.ScopeStubs})
			require.NoError(t, d.boot())
			var log bytes.Buffer
			d.states.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			rounds := func(n int) {
				for range n {
					require.NoError(t, d.round())
					d.now = d.now.Add(time.Minute)
				}
			}
			rounds(10)
			require.Zero(t, d.Counts()[deletions.Verified], "it is in the log")
			require.Contains(t, log.String(), "something is left")
			if uncommitted == ingest.BehindOpen {
				require.Contains(t, log.String(), "an open transaction keeps records")
				require.Contains(t, log.String(), "topic=transactions.v1 partition=0 first_offset=0")
			}
			for _, rec := range d.bus.topics[bus.Transactions] {
				require.False(t, rec.Tombstone() && string(rec.Key) == "stuck-7", "the committed record of its key is another's")
			}
			d.bus.topics[bus.Transactions] = slices.Delete(d.bus.topics[bus.Transactions], 0, 1)
			rounds(10)
			require.Equal(t, 1, d.Counts()[deletions.Verified])
			s := d.statement("r")
			require.Equal(t, deletions.OutcomeErased, s.Outcomes[0].Outcome)
		})
	}
}
