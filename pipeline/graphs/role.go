package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

const (
	roleName = "graphs"
	// tick is how often it is looked whether a failed request is to be tried again
	// and logs are to be rolled.
	tick = time.Second
)

// New opens the stores and returns the role that builds graphs and drives the
// erasure coordinator. The topics must be there: the stores depend on how many
// partitions they have.
func New(ctx context.Context, o Options) (*role.Follower, error) {
	o = o.agreed()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	kept, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	searches := newBeside(coordinator.Searcher{Bus: o.Bus, Places: o.places(), Clock: o.Clock, Compact: o.Compact})
	return role.Follow(roleName, newLogic(o, kept, searches), role.Surroundings{
		Bus: o.Bus, Wake: searches.wake, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger,
	}), nil
}

// stores are what outlives the process.
type stores struct {
	graphs      Store
	ledger      *deletions.Ledger
	ledgerStore io.Closer
	receipts    coordinator.Receipts
}

// open opens the stores in the role's folder.
func open(ctx context.Context, o Options) (stores, error) {
	if err := os.MkdirAll(o.ReceiptsDir, 0o755); err != nil {
		return stores{}, fmt.Errorf("receipts folder: %w", err)
	}
	graphs, err := openSnapshots(ctx, o)
	if err != nil {
		return stores{}, err
	}
	ledger, ledgerStore, err := coordinator.OpenLedger(o.Dir, o.Clock.Now)
	if err != nil {
		return stores{}, errors.Join(err, graphs.Close())
	}
	return stores{graphs, ledger, ledgerStore, coordinator.ReceiptFolder(o.ReceiptsDir)}, nil
}

// openSnapshots opens the snapshot store, unless it was begun with settings that
// give other slices.
func openSnapshots(ctx context.Context, o Options) (*snapshot.Store, error) {
	transactions, err := o.Bus.Partitions(ctx, bus.Transactions)
	if err != nil {
		return nil, err
	}
	labels, err := o.Bus.Partitions(ctx, bus.Labels)
	if err != nil {
		return nil, err
	}
	store, err := snapshot.Open(filepath.Join(o.Dir, "snapshots"), snapshot.Options{
		Config: o.Snapshot, Secret: o.Secret, FS: vfs.Default,
		TransactionPartitions: transactions, LabelPartitions: labels,
	})
	if errors.Is(err, snapshot.ErrIncompatible) {
		return nil, fmt.Errorf("%w (%s)", err, remedy)
	}
	if err != nil {
		return nil, err
	}
	if err := keepSettings(store.Marks(), o.Partition, o.Repair); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// newLogic makes the parts that share the open stores.
func newLogic(o Options, kept stores, searches Searches) *logic {
	turns := &role.Turns{}
	store := kept.graphs
	p := &publisher{store: store, turns: turns, cut: cut{o.Partition.Shards, o.Repair}}
	c := coordinator.New(coordinator.Options{
		Config: o.Erasure, Ledger: kept.ledger, Receipts: kept.receipts, Notes: notes{store},
		Graphs: &eraser{store: store, publisher: p, secret: o.Secret},
		Bus:    topics{turns, o.Bus}, Clock: o.Clock, Listener: o.Listener, Logger: o.Logger,
	})
	refused := &letters{turns: turns, version: o.Version, listener: o.Listener}
	l := &logic{
		turns: turns, store: store, ledgerStore: kept.ledgerStore, coordinator: c, searches: searches,
		intake: &intake{store: store, letters: refused, erased: c.Erased, limits: o.Limits, listener: o.Listener},
		lifecycle: &lifecycle{
			store: store, publisher: p, letters: refused, partition: o.Partition, now: o.Clock.Now, listener: o.Listener,
			published: make(map[lethe.Timestep]lethe.State), begun: make(map[lethe.Timestep]bool),
		},
	}
	for _, info := range store.Timesteps() {
		l.lifecycle.begun[info.Timestep] = true
	}
	l.status = l.know()
	return l
}
