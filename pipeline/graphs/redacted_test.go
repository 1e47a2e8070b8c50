package graphs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// rowOf is that of a transaction in the newest graph of a timestep.
func (d *deployment) rowOf(at lethe.Timestep, id lethe.TransactionID) []float32 {
	d.Helper()
	messages, _ := d.published(bus.Snapshots)
	g, err := canonical.DecodeSnapshot(messages[wire.Key{Kind: wire.KindSnapshot, Timestep: at}].Payload)
	require.NoError(d, err)
	node, found := g.Find(secret.Pseudonym(id))
	require.True(d, found)
	return g.Row(node)
}

// newestRecord is the newest record of a transaction in the topic, and how many came before
// it.
func (d *deployment) newestRecord(id lethe.TransactionID) (newest ingest.Record, before int) {
	d.Helper()
	before = -1
	for _, rec := range roletest.Records(d, d.topics, bus.Transactions) {
		if string(rec.Key) == string(id) {
			newest, before = rec, before+1
		}
	}
	return newest, before
}

// An erasure of features replaces the row and leaves its transaction; whatever is replayed of
// it is published again with 0 in their place, and moves nothing.
func TestAReplayedRecordIsPublishedAgainWithoutErasedFeatures(t *testing.T) {
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	in := func(state deletions.State) {
		t.Helper()
		d.until(r, string(state), inState(state))
	}
	d.settled(r, 1)
	id := transactionID(1, 2)
	d.put(bus.Erasures)(ingest.EncodeErasure(lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: []lethe.Target{lethe.FeaturesOf(id, 0, 2)},
	}, time.Time{}))
	in(deletions.Accepted)
	d.answer("score", deletions.StepSuppressed)
	in(deletions.Retraining)
	require.Equal(t, []float32{0, 1, 0}, d.rowOf(1, id))
	d.answer("train", deletions.StepPurged)
	d.answer("score", deletions.StepSwapped)
	d.answer("score", deletions.StepErased)
	d.until(r, "the record is published again", func(*role.Status) bool {
		rec, _ := d.newestRecord(id)
		again, _ := ingest.IsRepublished(secret, rec)
		return again
	})
	republished, before := d.newestRecord(id)
	require.Equal(t, `{"type":"transaction","id":"transaction-1-2","timestep":1,"features":[0,1,0]}`,
		string(republished.Value))

	d.arrives(1, id, 2, 1, .5)
	d.until(r, "all is read", func(*role.Status) bool {
		rec, n := d.newestRecord(id)
		return n > before && string(rec.Value) == string(republished.Value)
	})
	_, n := d.newestRecord(id)
	require.Equal(t, before+2, n, "the replayed record, and that which takes its place")
	require.Equal(t, []float32{0, 1, 0}, d.rowOf(1, id))
	messages, _ := d.published(bus.Snapshots)
	require.Equal(t, lethe.Revision(2), messages[wire.Key{Kind: wire.KindSnapshot, Timestep: 1}].Revision)
	require.Equal(t, 7, r.Status().Transactions())

	// One that its topic takes compressed alone, or that grows as it is written anew, goes as a whole.
	for _, features := range []string{strings.Repeat("1,", 700_000), strings.Repeat("1e6,", 240_000)} {
		large := []byte(`{"type":"transaction","id":"` + string(id) + `","timestep":1,"features":[` + features + `1]}`)
		d.send(bus.Transactions, ingest.Outgoing{Key: []byte(id), Value: large})
		d.until(r, "it is answered", func(*role.Status) bool {
			rec, _ := d.newestRecord(id)
			return string(rec.Value) != string(large)
		})
		rec, _ := d.newestRecord(id)
		require.True(t, rec.Tombstone())
	}
	require.Equal(t, []float32{0, 1, 0}, d.rowOf(1, id))
}

// A record that lethe published again stands behind those of later timesteps: a store that is made
// anew takes it, though others that late are refused, but not one whose record was refused itself.
func TestARepublishedRecordIsTakenWhereLateOnesAreRefused(t *testing.T) {
	d := deploy(t)
	d.lateRecords, d.window = snapshot.DeadLetter, time.Millisecond
	r, _ := d.run(t.TempDir())
	d.settled(r, 1)
	record := func(i int) ingest.Outgoing {
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{
			ID: transactionID(1, i), Timestep: 1, Features: []float32{0, 7, 0},
		})
		require.NoError(t, err)
		return ingest.Outgoing{Key: key, Value: value}
	}
	d.send(bus.Transactions, record(8))
	again, refused := record(9), record(10)
	republish := func(o ingest.Outgoing, refused bool) {
		rec := ingest.Record{Key: o.Key, Partition: bus.PartitionOf(o.Key, 2)}
		d.send(bus.Transactions, ingest.Republished(secret, rec, o.Value, refused))
	}
	republish(refused, true)
	republish(again, false)
	d.until(r, "it is there", func(s *role.Status) bool { return s.Steps[1].Nodes == 8 })
	require.Equal(t, []float32{0, 7, 0}, d.rowOf(1, transactionID(1, 9)))
	letters := 0
	require.NoError(t, d.topics.ReadAll(t.Context(), bus.DeadLetters, func(ingest.Record) error {
		letters++
		return nil
	}))
	require.Equal(t, 1, letters)
}

// A label that was published again without an erased name is behind the settle record of its timestep.
func TestARepublishedLabelIsTakenByAStoreMadeAnew(t *testing.T) {
	for _, late := range []string{snapshot.DeadLetter, snapshot.Reopen} {
		d := deploy(t)
		d.lateRecords, d.window = late, time.Millisecond
		r, _ := d.run(t.TempDir())
		d.settled(r, 1)
		unlabelled := 0
		for lethe.Label(unlabelled%lethe.NumLabels) != lethe.Unknown {
			unlabelled++
		}
		id := transactionID(1, unlabelled)
		key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 1, Label: lethe.Illicit})
		require.NoError(t, err)
		rec := ingest.Record{Topic: string(bus.Labels), Key: key, Offset: 1}
		d.send(bus.Labels, ingest.Republished(secret, rec, value, false))
		labels := func() int {
			m, _ := d.published(bus.Snapshots)
			manifest, err := wire.DecodeManifest(m[wire.Key{Kind: wire.KindManifest, Timestep: 1}].Payload)
			require.NoError(t, err)
			return len(manifest.Labels)
		}
		before := labels()
		d.settled(r, 2)
		d.until(r, "the label joins", func(*role.Status) bool { return labels() == before+1 })
	}
}
