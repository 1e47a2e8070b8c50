// Package graphs is the role that builds graphs from records and slices from graphs. It also runs the erasure
// coordinator.
//
// It consumes transactions.v1, labels.v1, erasures.v1 and control.v1 in steps, one after the other. Searches, and the
// longest parts of closing and settling a timestep, run beside the steps and wake the role when they end. After a crash
// the same messages are published again, under the same keys with the same bytes.
//
//	role.go       opens the stores; lost.go rebuilds a lost one; ledger.go restores ledger and receipts from the topics
//	logic.go      the step function; erased.go, the suppression for intake; commitments.go, leaves of the transparency
//	              log from control.v1; overwritten.go, late records of a fenced leader; status.go
//	standby.go    a standby, and how it takes over; replay.go applies the journal; commands.go, erasures in a standby
//	questions.go  questions of other goroutines; answers.go; stopped.go, for a role that does not run; held.go, the
//	              data of a target in the graphs
//	options.go    options; settings.go, the settings of a store; ports.go, topics and notes; searches.go
//
// Package intake processes records; settle closes and settles timesteps, cutting cuts them into slices, publish
// publishes both; erase plans and executes erasures.
package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lethe"

	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/coordinator"
	"lethe/deletions/disk"
	"lethe/deletions/late"
	"lethe/deletions/retention"
	"lethe/deletions/search"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/graphs/cutting"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/graphs/intake"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/graphs/timesteps"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

const (
	roleName = "graphs"
	// tick is the interval of checks for failed requests to retry and logs to roll.
	tick = time.Second
)

// New opens the stores and returns the role. The topics must exist: the stores depend on their numbers of partitions.
func New(ctx context.Context, o Options) (*role.Follower, error) {
	o = o.agreed()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	kept, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	searches := newAsyncSearches(search.Searcher{
		Bus: o.Bus, Places: o.places(), Log: o.Log, Clock: o.Clock, Compact: o.Compact, Pacer: o.Pacer,
	}, o)
	return role.Follow(roleName, newLogic(o, kept, searches), role.Surroundings{
		Bus: o.Bus, Wake: searches.wakes, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger,
		Standing: o.standing, Own: leadersTopics(),
	}), nil
}

// stores is the durable state.
type stores struct {
	graphs      *snapshot.Store
	ledger      *deletions.Ledger
	log         *translog.Log
	backups     backups.Registry
	ledgerStore io.Closer
	receipts    coordinator.Receipts
	// decided is nil in a standby.
	decided *publish.Decisions
	rebuild rebuild
	// restored describes the backup that was restored last.
	restored backups.Restored
}

// open opens the stores in the role's folder.
func open(ctx context.Context, o Options) (stores, error) {
	if err := os.MkdirAll(o.ReceiptsDir, 0o755); err != nil {
		return stores{}, fmt.Errorf("receipts folder: %w", err)
	}
	decisions, err := readDecided(ctx, o)
	if err != nil {
		return stores{}, err
	}
	graphs, err := openSnapshots(ctx, o)
	if err != nil {
		return stores{}, err
	}
	if err := reaches(o, decisions, graphs); err != nil {
		return stores{}, errors.Join(err, graphs.Close())
	}
	ledger, ledgerStore, err := disk.OpenLedger(o.FS, o.Dir, o.Clock.Now)
	if err != nil {
		return stores{}, errors.Join(err, graphs.Close())
	}
	var log *translog.Log
	if err = restoreLedger(ctx, o, graphs, ledger); err == nil {
		log, err = startLog(ctx, o, disk.KV(ledgerStore), ledger)
	}
	if err == nil {
		err = suppressAgain(ctx, o, graphs, ledger)
	}
	if err == nil {
		err = backups.Resume(ctx, backups.Deployment{
			Secret: o.Secret, KV: disk.KV(ledgerStore), Ledger: ledger, Log: log, Bus: o.Bus, Names: namesIn(graphs),
			Rule: o.Limits.Normalise, Publish: func() error { return publish.Rewritten(graphs) },
		})
	}
	var restored backups.Restored
	if err == nil {
		restored, _, err = backups.Last(disk.KV(ledgerStore))
	}
	if err != nil {
		return stores{}, errors.Join(err, ledgerStore.Close(), graphs.Close())
	}
	lost, err := rebuildOf(ctx, o.Bus, graphs)
	if err != nil {
		return stores{}, errors.Join(err, ledgerStore.Close(), graphs.Close())
	}
	receipts := patientReceipts{disk.ReceiptFolder(o.ReceiptsDir), o.Patience}
	return stores{
		graphs: graphs, ledger: ledger, log: log, backups: backups.In(disk.KV(ledgerStore)), ledgerStore: ledgerStore,
		receipts: receipts, decided: decisions, restored: restored, rebuild: lost,
	}, nil
}

// snapshotsDir is the folder of the snapshot store.
func snapshotsDir(o Options) string { return filepath.Join(o.Dir, "snapshots") }

// openSnapshots opens the snapshot store. It rejects a store with settings that give other slices.
func openSnapshots(ctx context.Context, o Options) (*snapshot.Store, error) {
	transactions, err := o.Bus.Partitions(ctx, bus.Transactions)
	if err != nil {
		return nil, err
	}
	labels, err := o.Bus.Partitions(ctx, bus.Labels)
	if err != nil {
		return nil, err
	}
	store, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
		Config: o.Snapshot, Secret: o.Secret, FS: o.FS,
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

// newLogic connects the parts that share the open stores.
func newLogic(o Options, kept stores, searches Searches) *logic {
	turns, store := &role.Turns{}, kept.graphs
	running := &beside.Running{Start: o.Beside, Wake: func() { signal(o.wakes) }}
	letters := intake.Letters{Store: store, Write: turns.Write, Version: o.Version, Listener: o.Listener}
	publisher := &publish.Publisher{
		Encoder: publish.Encoder{Store: store, Cutter: &cutting.Cutter{
			Cut: cutting.Cut{Shards: o.Partition.Shards, Repair: o.Repair}, Partition: o.Partition, Running: running,
			Now: o.Clock.Now, First: o.First,
		}},
		Turns: turns, Log: kept.log, Decisions: kept.decided,
	}
	timesteps := timesteps.New(timesteps.Options{
		Publisher: publisher, Letters: letters, Topics: o.Bus, Running: running, PartitionsHold: o.PartitionsHold,
		Window: o.Snapshot.ReopenWindow, Now: o.Clock.Now, Listener: o.Listener,
	})
	eraser := erase.New(
		erase.Carriers{Store: store, Secret: o.Secret, Names: o.Limits.Normalise}, publisher,
		swapstore.Files(o.FS, snapshotsDir(o)), running, timesteps.PublishMissing,
	)
	c := coordinator.New(coordinator.Options{
		Config: o.Erasure, Ledger: kept.ledger, Log: kept.log, Backups: kept.backups.Holding, Restored: kept.restored,
		Receipts: kept.receipts, Notes: notes{store},
		Graphs: eraser,
		Bus:    topics{turns, o.Bus}, Clock: o.Clock, Listener: o.Listener, Logger: o.Logger,
	})
	records := intake.Options{
		Store: store, Decisions: kept.decided, Letters: letters, Secret: o.Secret, Limits: o.Limits,
		Authority: o.Erasure.Authority, MostOpen: o.Snapshot.MaxOpenTimesteps, Ends: o.Bus, Workers: o.Workers,
		Listener: o.Listener, Sampler: o.Sampler,
		Suppression: erased{Records: c.Records, List: store.Suppressed(), limits: o.Limits, late: late.Requests{
			Secret: o.Secret, Ledger: kept.ledger, Most: o.Limits.MaxErasureNodes, Out: topics{turns, o.Bus},
			Now: o.Clock.Now,
		}},
	}
	if d := kept.decided; d != nil {
		d.Store, d.Write, d.Letters, d.Unsent = store, turns.Write, letters.SendWaiting, timesteps.Unsent
	}
	l := &logic{
		turns: turns, running: running, store: store, ledger: kept.ledger, ledgerStore: kept.ledgerStore,
		intake: intake.New(records), publisher: publisher, timesteps: timesteps, eraser: eraser, coordinator: c,
		searches: searches, questions: o.Questions, now: o.Clock.Now, rebuild: kept.rebuild,
		progress:    progress{make(map[bus.TopicPartition]time.Time), make(map[bus.TopicPartition]int64)},
		commitments: newCommitments(kept.log, o),
		retention: retention.Retention{
			Keep: o.Erasure.RetainTimesteps, Most: o.Limits.MaxErasureNodes, Scope: o.Erasure.DefaultScope,
			Secret: o.Secret, Graphs: store, Ledger: kept.ledger, Out: topics{turns, o.Bus}, Now: o.Clock.Now,
		},
		overwritten: &overwritten{o.standing, kept.log, make(map[lethe.Timestep]lethe.Revision), o.Logger},
	}
	l.status = l.currentStatus()
	return l
}

// readDecided reads the journal.
func readDecided(ctx context.Context, o Options) (*publish.Decisions, error) {
	if o.standing != nil {
		return &publish.Decisions{Shared: true, Journal: o.standing.Journal()}, nil
	}
	d := new(publish.Decisions)
	var err error
	d.Journal, err = o.standing.ReadJournal(ctx, o.Bus, journal.ForGraphs, roleName, o.Instance, func(e journal.Entry) {
		if features, is := e.Decision.(journal.FeaturesDecided); is {
			d.FeatureCount = features.Count
		}
	})
	return d, err
}

// reaches returns an error unless a store has applied all entries before this process's epoch.
func reaches(o Options, d *publish.Decisions, store *snapshot.Store) error {
	if !d.Shared {
		return nil
	}
	at, err := publish.Position(store)
	if err == nil && d.Journal.Before().Behind(at.Place) {
		err = o.standing.StandByAgain()
	}
	return err
}
