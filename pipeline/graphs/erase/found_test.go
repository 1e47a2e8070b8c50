package erase

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// A process that stands by hears that a subject is erased before it comes to the record that says what
// carries it, and so drops that: what it took before of the same goes all the same, for who leads has
// found it.
func TestWhatWhoLeadsHasFoundGoes(t *testing.T) {
	config := snapshot.Defaults()
	config.FeatureCount = 3
	store, err := snapshot.Open("snapshots", snapshot.Options{
		Config: config, Secret: secret, FS: vfs.NewMem(), TransactionPartitions: 2, LabelPartitions: 1,
	})
	require.NoError(t, err)
	defer store.Close()
	subject, carrier := lethe.SubjectThrough("Ann", 9), lethe.Transactions("carrier")[0]
	labels, err := store.Begin(snapshot.Source{Stream: snapshot.Labels, Topic: string(bus.Labels)})
	require.NoError(t, err)
	_, err = labels.Label(lethe.LabelRecord{ID: "carrier", Timestep: 1, Label: lethe.Licit}, snapshot.Origin{})
	require.NoError(t, err)
	require.NoError(t, labels.Commit(1))
	require.NoError(t, store.Suppressed().Add([]lethe.Target{subject}))
	transactions, err := store.Begin(snapshot.Source{Stream: snapshot.Transactions, Topic: string(bus.Transactions)})
	require.NoError(t, err)
	v, err := transactions.Transaction(lethe.Transaction{
		ID: "carrier", Timestep: 1, Features: []float32{1, 2, 3}, Subjects: []string{"Ann"},
	}, snapshot.Origin{})
	require.NoError(t, err)
	require.Equal(t, snapshot.Suppressed, v.Outcome)
	require.NoError(t, transactions.Commit(1))

	e := Carriers{Store: store, Secret: secret}
	require.NoError(t, e.Adopt(t.Context(), []lethe.Target{subject}, []lethe.Digest{{7}, secret.Suppressed(subject)}))
	carried, _, err := e.Carried([]lethe.Target{subject})
	require.NoError(t, err)
	require.Empty(t, carried, "nobody has found it")
	require.NoError(t, e.Adopt(t.Context(), []lethe.Target{subject}, []lethe.Digest{secret.Suppressed(carrier)}))
	require.NoError(t, store.Erase(t.Context(), []lethe.Target{subject}))
	require.NoError(t, store.Letters().Originals(func(o snapshot.Origin) error {
		t.Errorf("%s@%d is left", o.Topic, o.Offset)
		return nil
	}))
	require.True(t, store.Suppressed().Has(secret.Suppressed(carrier)))
}
