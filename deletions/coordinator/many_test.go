package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
)

// calls counts what was called, by the first words of it.
func (d *deployment) count(words string) (n int) {
	for _, line := range d.told {
		if strings.HasPrefix(line, words) {
			n++
		}
	}
	return n
}

// 200 requests that wait together are planned, rewritten, commanded and searched for
// once: what they cost beyond one is their own records.
func TestTwoHundredRequestsAreCarriedOutAsOne(t *testing.T) {
	t.Parallel()
	var requests []lethe.ErasureRequest
	for i := range 200 {
		requests = append(requests, lethe.ErasureRequest{
			RequestID: fmt.Sprintf("r-%03d", i), Scope: lethe.ScopeStubs,
			Targets: lethe.Transactions(lethe.TransactionID("transaction-" + strconv.Itoa(i))),
		})
	}
	one, all := run(t, &memo{}, requests[:1], 0, true), run(t, &memo{}, requests, 0, true)
	for _, d := range []*deployment{one, all} {
		for words, times := range map[string]int{
			"plan": 1, "rewrite": 1, "search [": 1, "write control.v1: command purge": 1,
			"write control.v1: command search": 1, "read predictions.v1": 2, "read transactions.v1": 2,
			"search the graphs": 1, "compact": 1, "write receipts.v1": 1, "write erasures.v1": 1,
		} {
			require.Equal(t, times, d.count(words), words)
		}
	}
	for _, words := range []string{"ledger", "suppress", "commit up to", "note that"} {
		require.Equal(t, one.count(words), all.count(words), words)
	}
	const ends, withdrawnFrom = "read the end of", 5 // once for each topic with a record to be withdrawn
	require.Equal(t, one.count("read")-one.count(ends), all.count("read")-all.count(ends))
	require.LessOrEqual(t, all.count(ends), one.count(ends)+withdrawnFrom)
	for _, r := range requests {
		s := all.statement(r.RequestID)
		require.Equal(t, len(requests), s.BatchSize)
		held := map[string][]lethe.Timestep{"r-001": {3}, "r-002": {5}, "r-003": {5}}[r.RequestID]
		require.ElementsMatch(t, held, s.Timesteps, "each receipt is of its own request: %s", r.RequestID)
		require.Len(t, s.Targets, 1)
	}
}

// The largest request that is legal has 1,000 targets, and short ids have the most
// forms. Nothing that is said of it is larger than its topic takes.
func TestTheLargestRequestIsCarriedOut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the longest of the package")
	}
	r := lethe.ErasureRequest{RequestID: "r", Scope: lethe.ScopeStubs}
	for i := range 1000 {
		r.Targets = append(r.Targets, lethe.Transactions(lethe.TransactionID(strconv.Itoa(i)))...)
	}
	d := run(t, &memo{}, []lethe.ErasureRequest{r}, 0, true)
	require.Len(t, d.statement("r").Outcomes, 1000)
	require.Equal(t, 2, d.count("write control.v1: a part of a command, a part"), "purge and search")
	left := make(map[string]bool)
	for _, rec := range d.bus.topics[bus.Control] {
		left[string(rec.Key)] = strings.HasPrefix(string(rec.Key), "order/") && !rec.Tombstone()
	}
	require.NotContains(t, slices.Collect(maps.Values(left)), true, "all of the command is deleted")
}

// Many requests that are large together do not make one batch.
func TestABatchHasNoMoreTargetsThanTheLargestRequest(t *testing.T) {
	var requests []lethe.ErasureRequest
	for i := range 3 {
		requests = append(requests, lethe.ErasureRequest{
			RequestID: "r" + strconv.Itoa(i), Scope: lethe.ScopeStubs,
			Targets: lethe.Transactions(lethe.TransactionID(fmt.Sprintf("transaction-%d", i)), "transaction-9"),
		})
	}
	d := deploy(t)
	d.limits.MaxErasureNodes = 5
	d.carryOut(requests, 0, true)
	require.Equal(t, []int{2, 2, 1}, []int{
		d.statement("r0").BatchSize, d.statement("r1").BatchSize, d.statement("r2").BatchSize,
	})
	list, err := deletions.NewLedger(d.kv, nil).List()
	require.NoError(t, err)
	require.Equal(t, "r0", list[1].Leader())
}

// Requests of different scopes are never carried out together, though they come
// together: what one replaces, the other asks to keep.
func TestABatchNeverMixesScopes(t *testing.T) {
	d := run(t, &memo{}, append(apart(), lethe.ErasureRequest{
		RequestID: "wide", Targets: lethe.Transactions("transaction-3"), Scope: lethe.ScopeStubs,
	}), 0, true)
	require.Equal(t, 1, d.count("plan 1+1 at scope stubs"))
	require.Equal(t, 1, d.count("plan 1 at scope shard"))
	one, two, wide := d.statement("one"), d.statement("two"), d.statement("wide")
	require.Equal(t, []int{2, 1, 2}, []int{one.BatchSize, two.BatchSize, wide.BatchSize})
	require.Equal(t, []deletions.SliceRef{{Timestep: 3, Shard: 1}, {Timestep: 3, Shard: 4}}, one.SlicesReplaced)
	change := func(at ...byte) deletions.DigestChange {
		before, after := lethe.Digest{3, 1}, lethe.Digest{3, 2}
		copy(before[2:], at)
		copy(after[2:], at)
		return deletions.DigestChange{Before: before, After: after}
	}
	require.Equal(t, []deletions.Replacement{{
		Timestep: 3, Graph: change(), Manifest: change(255), Slices: []deletions.SliceChange{
			{Shard: 1, DigestChange: change(2)}, {Shard: 4, DigestChange: change(5)},
		},
	}}, one.Replaced)
	require.Equal(t, []deletions.SliceRef{{Timestep: 5, Shard: 1}}, two.SlicesReplaced)
	require.Equal(t, []deletions.SliceRef{{Timestep: 5, Shard: 1}, {Timestep: 5, Shard: 4}}, wide.SlicesReplaced)
}
