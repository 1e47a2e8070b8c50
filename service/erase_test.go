package service_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/trainer"
)

func TestErasureLeavesNoByteAndASignedReceipt(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 80, 3)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	before := s.Replay(stream)
	id := servicetest.LabelledIllicit(stream, 3)[0]
	forms := servicetest.FormsOf(t, c, stream, id)
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, forms), "the search finds nothing even before the erasure")

	require.Equal(t, deletions.Verified, s.Erase("gdpr-1", lethe.ScopeStubs, id))
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
	after := s.Await(func(*service.Status) bool { return true })
	require.NotEqual(t, before.EnsembleHash, after.EnsembleHash)
	require.Equal(t, before.Transactions-1, after.Transactions)
	require.Equal(t, before.Predictions-1, after.Predictions)
	s.Stop()
	require.Empty(t, servicetest.Left(t, c.DataDir, forms), "after the service has stopped")

	receipt := servicetest.Receipt(t, c, "gdpr-1")
	require.Equal(t, before.EnsembleHash, receipt.EnsembleBefore.String())
	require.Equal(t, after.EnsembleHash, receipt.EnsembleAfter.String())
	require.Equal(t, []lethe.Timestep{3}, receipt.Timesteps)
	require.True(t, receipt.Checkpoints.Fits(receipt.EnsembleBefore, receipt.EnsembleAfter))
	stayed := 0
	for i, digest := range receipt.Checkpoints.After {
		if digest == receipt.Checkpoints.Before[i] {
			stayed++
		}
	}
	require.Less(t, stayed, len(receipt.Checkpoints.After))
	require.Equal(t, c.Partition.Shards-len(receipt.ShardsRetrained), stayed, "models of other shards stay")
	require.Zero(t, receipt.Scan.Hits)
	require.Positive(t, receipt.Scan.Records)
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
	both := rowOf(t, servicetest.Receipt(t, c, "both"), receipt.Stubs)
	require.Equal(t, m.excess(2), both.Remaining)
	require.Greater(t, both.Found, both.Remaining)
	require.Equal(t, receipt.KeptDeclared, both.Action)
	requireEqual(s, m.build())
	require.NotEmpty(t, artefacts(s, bus.Slices))

	backups := rowOf(t, servicetest.Receipt(t, c, "both"), receipt.Backups)
	require.Equal(t, receipt.Declared, backups.Action, "nobody has looked at backups")
}

// Ids that are words, which stand in everybody's records and in every folder, are erased
// like others; the request ends, and nothing of others goes, nor an end of a timestep.
func TestIDsThatAreWords(t *testing.T) {
	t.Parallel()
	words := []lethe.TransactionID{
		"illicit", "1", "close", "label", "transaction", "settle", "verified", "stubs", "features", "type", "17", "unknown",
		"marker", "leveldb", "Options", "predictions.v1",
		// Of lethe's own texts: kernel sets, roles, fields and sentences of receipts.
		"fma", "amd64", "view", "kernel_set", "artefacts", "snapshot_rows", "hashes", "neighbours", "stood", "payload",
	}
	stream := servicetest.SmallStream(t, 5, 40, 33)
	four := servicetest.Step(stream, 4)
	for i, id := range words {
		features := slices.Clone(four.Transactions[i].Features)
		features[0] += 5
		four.Transactions = append(four.Transactions, lethe.Transaction{ID: id, Timestep: 4, Features: features})
		four.Labels = append(four.Labels, lethe.LabelRecord{ID: id, Timestep: 4, Label: lethe.Illicit})
		four.Payments = append(four.Payments, lethe.Payment{Source: id, Target: four.Transactions[i].ID, Timestep: 4})
	}
	c := servicetest.SmallConfig(t, t.TempDir())
	s := lifecycle(t, c, stream)
	// Dead letters of others, which hold the words where they name nobody.
	for _, value := range []string{
		`{"type":"transaction","id":"other-1","timestep":5,"features":["1","17"]}`,
		`{"type":"settle","id":"other-2","label":"illicit"}`,
	} {
		send(s, bus.Transactions)([]byte("other"+value[9:10]), []byte(value), nil)
	}
	s.Quiet()
	letters := func() (n int) {
		require.NoError(t, s.Client().ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
			if len(rec.Value) > 0 && rec.Key[0] != '!' {
				n++
			}
			return nil
		}))
		return n
	}
	before := letters()
	require.Positive(t, before)
	require.Equal(t, deletions.Verified, s.Erase("words", lethe.ScopeStubs, words...))
	for _, outcome := range outcomes(s, "words") {
		require.Equal(t, deletions.OutcomeErased, outcome)
	}
	require.Equal(t, before, letters())
	finish(s, stream)
	status := s.Quiet()
	require.Equal(t, service.TimestepCounts{Settled: 5}, status.Timesteps)
	require.Equal(t, 5*40, status.Transactions)
	s.Stop()

	// The ends of timesteps are still in the topics: all is made again of them.
	remove(t, c, "build")
	s = start(t, c)
	s.Await(func(st *service.Status) bool { return st.Timesteps == service.TimestepCounts{Settled: 5} })
	s.Stop()
}

// With one-hop features the models are asked with the rows they were trained
// on, and scope shard, which would leave means of the erased row in other
// shards, is refused.
func TestOneHopFeatures(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 21)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Repair.OneHop = true
	s, m := start(t, c), newMirror(t, c, stream)
	s.Replay(stream)
	m.settle(1, 2)
	trained := m.build().checkpoints
	m.settle(3)

	g := m.graph(3)
	require.Equal(t, 2*g.FeatureCount+1, m.slices[3][0].FeatureCount)
	models := make([]*trainer.Checkpoint, c.Partition.Shards)
	for shard := range models {
		var err error
		models[shard], err = trainer.DecodeCheckpoint(trained[sliceAt{lethe.ShardID(shard), 2}])
		require.NoError(t, err)
	}
	said, err := m.runner.Ask(t.Context(), models,
		trainer.InputOf(onehop.Undirected.Join(g)))
	require.NoError(t, err)
	want := ensemble.Illicit(scoring.Mean(said.Shards))
	published := s.Newest(bus.Predictions)
	for i, n := range g.Nodes {
		var p scoring.Prediction
		require.NoError(t, json.Unmarshal([]byte(published[string(n.ID)]), &p))
		require.InDelta(t, want[i], p.Probability, 1e-9)
	}

	id := servicetest.LabelledIllicit(stream, 2)[0]
	require.Equal(t, deletions.Rejected, s.Erase("narrow", lethe.ScopeShard, id))
	require.Equal(t, deletions.Verified, s.Erase("exact", lethe.ScopeStubs, id))
}
