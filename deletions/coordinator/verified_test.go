package coordinator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// What remains is what a search found: a hit, or a record that was not compacted
// away, shows in a row of the receipt wherever it is, and such a receipt is not signed.
func TestRemainsAreMeasured(t *testing.T) {
	var places []string
	for _, topic := range bus.Topics() {
		places = append(places, string(topic))
	}
	places = append(places, GraphsFolder, ReceiptsFolder, BrokerFolder, trainRole, scoreRole)
	entry := func(p deletions.PlaceSearch) deletions.Entry {
		e := deletions.Entry{RequestID: "r-1", State: deletions.Verified, Scope: lethe.ScopeStubs}
		e.Progress.Counts = deletions.Counts{
			Held: 3, Stubs: 3, Predictions: 3, DeadLetters: 3, SourceRecords: 3, Targets: 1, Slices: 1, Shards: 1, Timesteps: 1,
		}
		e.Targets = []lethe.Digest{{1}}
		e.Progress.Slices = []deletions.SliceRef{{Timestep: 1}}
		e.Progress.Retrained, e.Progress.Timesteps = []lethe.ShardID{0}, []lethe.Timestep{1}
		e.Progress.Searched = []deletions.PlaceSearch{p}
		e.History = []deletions.Change{{State: deletions.Verified}}
		return e
	}
	remaining := func(e deletions.Entry) (n int64) {
		for _, row := range artefacts(e, kept{suppressed: 1, entries: 1}) {
			n += row.Remaining
		}
		return n
	}
	clean := remaining(entry(deletions.PlaceSearch{}))
	require.Equal(t, int64(2), clean, "one suppressed, one entry")
	for _, place := range places {
		for _, left := range []deletions.PlaceSearch{
			{Place: place, Summary: scan.Summary{Hits: 1}}, {Place: place, Superseded: 1},
		} {
			e := entry(left)
			require.Greater(t, remaining(e), clean, "%+v is in no row", left)
			r := receipt.New(e, receipt.Facts{Artefacts: artefacts(e, kept{1, 1})})
			require.NotEmpty(t, r.Problems())
			_, err := receipt.Sign(r, nil)
			require.Error(t, err)
		}
	}
	for _, k := range []kept{{0, 1}, {1, 0}} {
		e := entry(deletions.PlaceSearch{})
		for _, row := range artefacts(e, k) {
			switch row.Artefact {
			case receipt.SuppressionEntries:
				require.Equal(t, int64(k.suppressed), row.Remaining)
			case receipt.LedgerEntries:
				require.Equal(t, int64(k.entries), row.Remaining)
			default:
			}
		}
	}
}

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
