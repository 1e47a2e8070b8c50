package graphs

import (
	"context"
	"errors"

	"lethe/deletions/disk"
	"lethe/snapshot"
)

// AskStopped answers a question from the folder of a stopped role, with the number of partitions of its topics. Errors
// are those of Ask and of opening the stores: swapstore.ErrInUse if the role runs.
func AskStopped(ctx context.Context, o Options, partitions int, q Question) (_ Answer, err error) {
	l, closeStores, err := openStopped(o.agreed(), partitions)
	if err != nil {
		return Answer{}, err
	}
	defer func() { err = errors.Join(err, closeStores()) }()
	return l.answer(ctx, q)
}

// openStopped opens the stores of a stopped role.
func openStopped(o Options, partitions int) (_ answers, closeStores func() error, err error) {
	store, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
		Config: o.Snapshot, Secret: o.Secret, FS: o.FS, TransactionPartitions: partitions, LabelPartitions: partitions,
	})
	if err != nil {
		return answers{}, nil, err
	}
	if err := CheckSettings(store.Marks(), o.Partition, o.Repair); err != nil {
		return answers{}, nil, errors.Join(err, store.Close())
	}
	ledger, ledgerStore, err := disk.OpenLedger(o.FS, o.Dir, nil)
	if err != nil {
		return answers{}, nil, errors.Join(err, store.Close())
	}
	closeStores = func() error { return errors.Join(ledgerStore.Close(), store.Close()) }
	return newLogic(o, stores{graphs: store, ledger: ledger}, nil).answers(), closeStores, nil
}
