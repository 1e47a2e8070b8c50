package service_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// receiptOf reads and checks the receipt of a request.
func receiptOf(t testing.TB, c configs.Config, id string) receipt.Receipt {
	t.Helper()
	signed, err := os.ReadFile(filepath.Join(service.ReceiptsDir(c.DataDir), id+".json"))
	require.NoError(t, err)
	r, verification, err := receipt.Verify(signed, pinned(t, c))
	require.NoError(t, err)
	require.True(t, verification.Valid, "%v", verification.Problems)
	return r
}

// pinned is the trust in the key of a data directory.
func pinned(t testing.TB, c configs.Config) receipt.Trust {
	t.Helper()
	key, err := configs.ReadPublicKey(configs.PublicKeyPath(c.SigningKeyPath()))
	require.NoError(t, err)
	return receipt.Pinned(key)
}

// rowOf is the row of a receipt about a class of artefacts that has one.
func rowOf(t testing.TB, r receipt.Receipt, a receipt.Artefact) receipt.ArtefactRow {
	t.Helper()
	var rows []receipt.ArtefactRow
	for _, row := range r.Artefacts {
		if row.Artefact == a {
			rows = append(rows, row)
		}
	}
	require.Len(t, rows, 1)
	return rows[0]
}

// excess counts the stubs of a timestep's slices that the remaining records do not give.
func (m *mirror) excess(at lethe.Timestep) (n int64) {
	fresh := m.cut(at)
	for shard, s := range m.slices[at] {
		n += int64(len(s.Stubs) - len(fresh[shard].Stubs))
	}
	return n
}

// At scope shard the stubs that remain are counted in the slices that were kept: a
// stub whose slice was replaced for another reason is not among them.
func TestStubsThatRemainAreCounted(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 5)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3)
	shardOf := func(id lethe.TransactionID) lethe.ShardID { return m.shards[m.secret.Pseudonym(id)] }
	var one, two lethe.TransactionID
	for _, tx := range servicetest.Step(stream, 2).Transactions {
		for _, n := range m.neighbours(tx.ID) {
			if shardOf(n) != shardOf(tx.ID) && slices.ContainsFunc(m.neighbours(tx.ID), func(other lethe.TransactionID) bool {
				return shardOf(other) != shardOf(tx.ID) && shardOf(other) != shardOf(n)
			}) {
				one, two = tx.ID, n
			}
		}
	}
	require.NotEmpty(t, two, "no transaction has neighbours in other shards")

	// Both ends of an edge go, and with them both its stubs.
	require.Equal(t, deletions.Verified, s.Erase("both", lethe.ScopeShard, one, two))
	m.forget(lethe.ScopeShard, one, two)
	require.Positive(t, m.excess(2), "nothing is left to count")
	both := rowOf(t, receiptOf(t, c, "both"), receipt.Stubs)
	require.Equal(t, m.excess(2), both.Remaining)
	require.Greater(t, both.Found, both.Remaining)
	require.Equal(t, receipt.KeptDeclared, both.Action)
	f := &forgetting{running: s, m: m}
	f.equal(m.build())
	require.NotEmpty(t, s.artefacts(bus.Slices))

	backups := rowOf(t, receiptOf(t, c, "both"), receipt.Backups)
	require.Equal(t, receipt.Declared, backups.Action, "nobody has looked at backups")
}
