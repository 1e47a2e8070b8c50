package snapshot_test

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/canonical"
	"lethe/snapshot"
)

// Carol's transaction is erased from a settled timestep. What is left has the
// digest of a store that never saw it.
func Example() {
	ctx := context.Background()
	erased, without := openExample(), openExample()
	defer erased.Close()
	defer without.Close()

	takeExample(erased, "alice", "bob", "carol")
	takeExample(without, "alice", "bob")
	for _, store := range []*snapshot.Store{erased, without} {
		check(snapshot.CloseTimestep(ctx, store, 1))
		check(store.SettleTimestep(ctx, 1, inTurn))
	}
	loadExample(erased)
	check(erased.Erase(ctx, lethe.Transactions("carol")))
	fmt.Println("as if never seen:", loadExample(erased) == loadExample(without))

	// Output:
	// settled, revision 1: 3 transactions, 2 payments
	// settled, revision 2: 2 transactions, 1 payments
	// settled, revision 1: 2 transactions, 1 payments
	// as if never seen: true
}

// openExample opens a store in memory for topics of one partition each.
func openExample() *snapshot.Store {
	config := snapshot.Defaults()
	config.FeatureCount = 1
	store, err := snapshot.Open("data", snapshot.Options{
		Config: config, Secret: lethe.Secret{1}, FS: vfs.NewMem(),
		TransactionPartitions: 1, LabelPartitions: 1,
	})
	check(err)
	return store
}

// takeExample takes transactions of timestep 1, each with a payment to the one
// before and a label, and the control records that end the timestep.
func takeExample(store *snapshot.Store, ids ...lethe.TransactionID) {
	transactions, err := store.Begin(snapshot.Source{Stream: snapshot.Transactions, Topic: "transactions"})
	check(err)
	var next int64
	origin := func() snapshot.Origin { next++; return snapshot.Origin{Offset: next - 1} }
	accept := func(v snapshot.Verdict, err error) {
		check(err)
		if v.Outcome != snapshot.Accepted {
			panic(v.Outcome)
		}
	}
	for i, id := range ids {
		accept(transactions.Transaction(lethe.Transaction{ID: id, Timestep: 1, Features: []float32{float32(i)}}, origin()))
		if i > 0 {
			accept(transactions.Payment(lethe.Payment{Source: id, Target: ids[i-1], Timestep: 1}, origin()))
		}
	}
	accept(transactions.Control(1, origin()))
	check(transactions.Commit(next))

	labels, err := store.Begin(snapshot.Source{Stream: snapshot.Labels, Topic: "labels"})
	check(err)
	next = 0
	for _, id := range ids {
		accept(labels.Label(lethe.LabelRecord{ID: id, Timestep: 1, Label: lethe.Licit}, origin()))
	}
	accept(labels.Control(1, origin()))
	check(labels.Commit(next))
}

// loadExample reads timestep 1 and returns the digest of its canonical bytes.
func loadExample(store *snapshot.Store) lethe.Digest {
	content, err := store.Load(1)
	check(err)
	s := content.Snapshot
	fmt.Printf("%s, revision %d: %d transactions, %d payments\n",
		content.Info.State, content.Info.Revision, len(s.Nodes), len(s.Payments))
	return canonical.DigestSnapshot(s)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
