package graphs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

const (
	// roleName is the name that the configuration had for the role first.
	roleName = "build"
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
		return nil, fmt.Errorf("build role: %w", err)
	}
	l, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("build role: %w", err)
	}
	return role.Follow(roleName, l, role.Surroundings{
		Bus: o.Bus, Wake: l.wake, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger,
	}), nil
}

// open opens the ledger and the snapshot store.
func open(ctx context.Context, o Options) (_ *logic, err error) {
	if err := os.MkdirAll(o.ReceiptsDir, 0o755); err != nil {
		return nil, fmt.Errorf("receipts folder: %w", err)
	}
	partitions := make(map[bus.Topic]int)
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Slices} {
		if partitions[topic], err = o.Bus.Partitions(ctx, topic); err != nil {
			return nil, err
		}
	}
	ledger, ledgerStore, err := coordinator.OpenLedger(o.Dir, o.Clock.Now)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ledgerStore.Close())
		}
	}()
	store, err := openSnapshots(o, partitions)
	if err != nil {
		return nil, err
	}
	published := &publisher{
		store: store, bus: o.Bus, cut: cut{o.Partition.Shards, o.Repair}, partitions: partitions[bus.Slices],
	}
	return newLogic(o, store, ledgerStore, published, coordinator.New(coordinator.Options{
		Config: o.Erasure, Ledger: ledger,
		Graphs: &eraser{store: store, publisher: published, secret: o.Secret},
		Notes:  notes{store}, Receipts: coordinator.ReceiptFolder(o.ReceiptsDir), Places: o.places(),
		Bus: o.Bus, Clock: o.Clock, Listener: o.Listener, Logger: o.Logger,
	})), nil
}

// openSnapshots opens the snapshot store, unless it was begun with settings that
// give other slices.
func openSnapshots(o Options, partitions map[bus.Topic]int) (*snapshot.Store, error) {
	store, err := snapshot.Open(filepath.Join(o.Dir, "snapshots"), snapshot.Options{
		Config:                o.Snapshot,
		Secret:                o.Secret,
		FS:                    vfs.Default,
		TransactionPartitions: partitions[bus.Transactions],
		LabelPartitions:       partitions[bus.Labels],
	})
	if err != nil {
		return nil, err
	}
	if err := checkSettings(store.Marks(), o.settings()); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// newLogic makes the parts that share the open store.
func newLogic(
	o Options, store *snapshot.Store, ledgerStore *swapstore.Store, p *publisher, c *coordinator.Coordinator,
) *logic {
	refused := &letters{bus: o.Bus, version: o.Version, listener: o.Listener}
	l := &logic{
		store: store, ledgerStore: ledgerStore, coordinator: c,
		intake: &intake{store: store, letters: refused, erased: c.Erased, limits: o.Limits, listener: o.Listener},
		lifecycle: &lifecycle{
			store: store, publisher: p, letters: refused, partition: o.Partition, now: o.Clock.Now, listener: o.Listener,
			published: make(map[lethe.Timestep]lethe.State), begun: make(map[lethe.Timestep]bool),
		},
		verdicts: make(chan coordinator.Verdict, 1), wake: make(chan struct{}, 1),
	}
	for _, info := range store.Timesteps() {
		l.lifecycle.begun[info.Timestep] = true
	}
	return l
}
