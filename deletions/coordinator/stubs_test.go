package coordinator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/pipeline/wire"
)

func (d *deployment) stubs(t *testing.T, id string) receipt.ArtefactRow {
	t.Helper()
	for _, row := range d.statement(id).Artefacts {
		if row.Artefact == receipt.Stubs {
			return row
		}
	}
	t.Fatal("no row of stubs")
	return receipt.ArtefactRow{}
}

// At scope shard what remains of stubs is counted when everything was searched, and
// not what was found before.
func TestStubsAtScopeShardAreCountedInTheSlices(t *testing.T) {
	requests := []lethe.ErasureRequest{
		{RequestID: "one", Targets: lethe.Transactions("transaction-1"), Scope: lethe.ScopeShard},
	}
	d := deploy(t)
	d.carryOut(requests, 0, true)
	row := d.stubs(t, "one")
	require.Equal(t, receipt.KeptDeclared, row.Action)
	require.Equal(t, int64(1), row.Remaining)

	// The slice with the stubs was replaced before the end.
	d = deploy(t)
	d.graphs.renewed[deletions.SliceRef{Timestep: 3, Shard: 4}] = true
	d.carryOut(requests, 0, true)
	row = d.stubs(t, "one")
	require.Zero(t, row.Remaining)
	require.Equal(t, receipt.Replaced, row.Action)
}

// A folder that nobody searched, because an operator has said that it is gone, is
// named on the receipt.
func TestReceiptsNameFoldersThatNobodySearched(t *testing.T) {
	d := deploy(t)
	i := wire.Instance{Role: acks.Train, Identity: "1", TakeOver: true, Earlier: 2}
	i = i.After(wire.Instance{Role: acks.Train, Identity: "first-one", Run: "0"}, d.now)
	record, err := i.Record()
	require.NoError(t, err)
	d.bus.append("control.v1", record)
	d.carryOut(alone(), 0, true)
	r := d.statement("one")
	require.Equal(t, []deletions.GoneFolder{
		{Role: acks.Train, Earlier: 2}, {Role: acks.Train, Instance: "first-one", DeclaredAt: i.Replaced[0].At},
	}, r.Gone)
	require.Contains(t, r.MayRemain, receipt.GoneFolders(r.Gone)[0])
	require.Contains(t, receipt.GoneFolders(r.Gone)[1], "role train in the data directory of instance first-on was not")
	require.Empty(t, r.Problems())
	r.MayRemain = r.MayRemain[:len(r.MayRemain)-1]
	require.Contains(t, r.Problems(), "may_remain does not speak of every one of gone_folders")
}

// A transaction that came after an erasure was planned, with the very features of the
// one erased, was found for ever, so that the request was never verified.
func TestFeaturesOfAnotherAreNotSearchedFor(t *testing.T) {
	d := deploy(t).carryOut(alone(), 0, false)
	require.NotContains(t, d.statement("one").NotSearched, scan.KindFeatures)

	d = deploy(t)
	d.graphs.alike[contentOf("transaction-1")] = true
	d.carryOut(alone(), 0, false)
	require.Contains(t, d.statement("one").NotSearched, scan.KindFeatures)
	e, err := d.states.o.Ledger.Get("one")
	require.NoError(t, err)
	require.Empty(t, e.Progress.Rows)
	require.NotEmpty(t, e.Progress.Fingerprints)
	for _, f := range e.Progress.Fingerprints {
		require.NotEqual(t, scan.KindFeatures, f.Kind)
	}
}
