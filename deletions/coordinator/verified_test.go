package coordinator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// untilSearched submits a request and goes on until all have answered, and the search is to begin.
func (d *deployment) untilSearched() {
	d.Helper()
	d.submit(lethe.ErasureRequest{
		RequestID: "gdpr-1", Scope: lethe.ScopeStubs, Targets: lethe.Transactions("transaction-1"),
	})
	require.NoError(d, d.boot())
	for range 10 {
		d.otherRoles()
		require.NoError(d, d.deliver())
		require.NoError(d, d.advance())
	}
}

// Who led before writes a barrier late, and the topic is compacted before the one of who leads was read: that does not
// come any more. It is said again, and the request is verified.
func TestABarrierThatWasWrittenOverIsSaidAgain(t *testing.T) {
	d := deploy(t)
	d.untilSearched()
	require.NoError(t, d.verify())
	require.NoError(t, d.Advance(d.Context()))
	isBarrier := func(rec ingest.Record) bool { return string(rec.Key) == "!barrier" }
	control := d.bus.topics[bus.Control]
	require.True(t, slices.ContainsFunc(control[d.noticed:], isBarrier), "it was sent and not read")
	d.bus.topics[bus.Control] = slices.DeleteFunc(control, isBarrier)
	late, err := wire.Barrier{Name: "of before"}.Record()
	require.NoError(t, err)
	d.bus.append(bus.Control, late)
	require.NoError(t, d.deliver())
	require.NoError(t, d.Advance(d.Context()))
	require.Equal(t, 1, d.Counts()[deletions.Erased], "nobody knows yet who has joined")
	require.NoError(t, d.deliver())
	require.NoError(t, d.Advance(d.Context()))
	require.Equal(t, 1, d.Counts()[deletions.Verified])
}
