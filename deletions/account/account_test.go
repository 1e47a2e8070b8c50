package account_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/account"
	"lethe/deletions/acks"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest/bus"
)

// What remains is what a search found: a hit, or a record that was not compacted
// away, shows in a row of the receipt wherever it is, and such a receipt is not signed.
func TestRemainsAreMeasured(t *testing.T) {
	var places []string
	for _, topic := range bus.Topics() {
		places = append(places, string(topic))
	}
	places = append(places, search.GraphsFolder, search.ReceiptsFolder, search.BrokerFolder, acks.Train, acks.Score)
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
		for _, row := range account.Artefacts(e, 1, 1) {
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
			r := receipt.New(e, receipt.Facts{Artefacts: account.Artefacts(e, 1, 1)})
			require.NotEmpty(t, r.Problems())
			_, err := receipt.Sign(r, nil)
			require.Error(t, err)
		}
	}
	for _, k := range []struct{ suppressed, entries int }{{0, 1}, {1, 0}} {
		e := entry(deletions.PlaceSearch{})
		for _, row := range account.Artefacts(e, k.suppressed, k.entries) {
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

// Trees and regressions have no optimiser: a receipt of the default ensemble does not count states of one.
func TestOptimiserStates_AreThoseOfNetworks(t *testing.T) {
	e := deletions.Entry{RequestID: "r-1", State: deletions.Verified, Scope: lethe.ScopeStubs}
	found := func() map[receipt.Artefact]int64 {
		out := make(map[receipt.Artefact]int64)
		for _, row := range account.Artefacts(e, 1, 1) {
			if row.Artefact == receipt.Checkpoints || row.Artefact == receipt.OptimiserState {
				out[row.Artefact] = row.Found
				require.Equal(t, row.Found == 0, row.Action == receipt.NoneHeld)
			}
		}
		return out
	}
	e.Progress.Refitted = []deletions.RefittedGroups{{Model: "trees", Groups: 2, Refitted: []int{0, 1}}}
	require.Equal(t, map[receipt.Artefact]int64{receipt.Checkpoints: 2, receipt.OptimiserState: 0}, found())
	network := deletions.RefittedGroups{Model: "elliptic-gin", Groups: 4, Refitted: []int{0, 1, 3}, Network: true}
	e.Progress.Refitted = append(e.Progress.Refitted, network)
	require.Equal(t, map[receipt.Artefact]int64{receipt.Checkpoints: 5, receipt.OptimiserState: 3}, found())
}
