// Package graphs is the role that turns records into graphs and graphs into
// slices. It holds the graphs for the erasure coordinator and drives it.
//
// It follows transactions.v1, labels.v1, erasures.v1 and control.v1. One
// step follows the other: a timestep is never closed, settled and rewritten at
// once. Beside the steps run the search that verifies an erasure, which touches
// no state, and what closing and settling a timestep take longest for; their end
// wakes the role. What is published is repeatable: after a
// crash the same messages go out again under the same keys with the same bytes.
//
//	role.go       opening the stores
//	options.go    what it is given, and what a store was begun with
//	lost.go       what was lost is made again, a whole store of graphs too
//	decided.go    what is written to the journal before it is done
//	standby.go    a process that stands by, until it leads; replay.go, what it does as the journal says;
//	              suppressing.go, what is dropped, and staging that is written anew
//	ports.go      what the role needs of topics, store and search; the coordinator's notes, kept with the offsets
//	logic.go      the step function: take what arrived, do what is due
//	intake.go     records into the snapshot store, refused ones to dlq.v1; decoded.go, what does not depend on
//	              the records before them, by several goroutines, and batches on their way to the disk
//	lifecycle.go  settling and reopening timesteps; closing.go, closing them; beside.go, what settling takes longest
//	              for, slices that are sent, and searches, beside the loop
//	publish.go    graphs, slices and manifests to the other roles; dispatch.go, what goes together, dead letters, and
//	              what a fenced leader wrote over;
//	              commitments.go, the transparency log, and what it commits to of slices and models
//	erase.go      what the coordinator asks for: suppress, rewrite, search
//	plan.go       what an erasure will change; cut.go, the slices whose digest differs and the stubs that remain;
//	              afresh.go, a timestep partitioned without the targets; records.go, the records that are known,
//	              what carries subjects, and features that become 0, in records and in graphs
//	questions.go  what others ask, answered between two steps; held.go, what is held of a target
package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"lethe/deletions/withdrawal"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/graphs/intake"
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
	var err error
	if o.leaders, err = role.ReadLeaders(ctx, o.Bus); err == nil && o.standing != nil {
		o.written, err = readWritten(ctx, o)
	}
	if err != nil {
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
		Standing: o.standing, Raw: leadersTopics(),
	}), nil
}

// stores are what outlives the process.
type stores struct {
	graphs      *snapshot.Store
	ledger      *deletions.Ledger
	log         *translog.Log
	backups     backups.Registry
	ledgerStore io.Closer
	receipts    coordinator.Receipts
	// decided is what the journal has decided, nil in a process that stands by.
	decided *decisions
	// restored is the note of the backup that was put back last.
	restored backups.Restored
}

// open opens the stores in the role's folder.
func open(ctx context.Context, o Options) (stores, error) {
	if err := os.MkdirAll(o.ReceiptsDir, 0o755); err != nil {
		return stores{}, fmt.Errorf("receipts folder: %w", err)
	}
	said, err := readDecided(ctx, o)
	if err != nil {
		return stores{}, err
	}
	graphs, err := openSnapshots(ctx, o)
	if err != nil {
		return stores{}, err
	}
	if err := said.reaches(o, graphs); err != nil {
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
			Rule: o.Limits.Normalise, Publish: publishRewritten(graphs),
		})
	}
	var restored backups.Restored
	if err == nil {
		restored, _, err = backups.Last(disk.KV(ledgerStore))
	}
	if err != nil {
		return stores{}, errors.Join(err, ledgerStore.Close(), graphs.Close())
	}
	receipts := patientReceipts{disk.ReceiptFolder(o.ReceiptsDir), o.Patience}
	return stores{
		graphs, ledger, log, backups.In(disk.KV(ledgerStore)), ledgerStore, receipts, said, restored,
	}, nil
}

// snapshotsDir is the folder of the snapshot store.
func snapshotsDir(o Options) string { return filepath.Join(o.Dir, "snapshots") }

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

// newIntake takes records into the open stores. wake has the role step.
func newIntake(o Options, kept stores, records *withdrawal.Records, turns *role.Turns, wake func()) *intake.Intake {
	options := intake.Options{
		Store: kept.graphs, Decisions: kept.decided, Secret: o.Secret, Limits: o.Limits,
		Authority: o.Erasure.Authority, MostOpen: o.Snapshot.MaxOpenTimesteps, Ends: o.Bus, Workers: o.Workers,
		Listener: o.Listener, Sampler: o.Sampler, Wake: wake,
		Letters: intake.Letters{Store: kept.graphs, Write: turns.Write, Version: o.Version, Listener: o.Listener},
		Suppression: erased{Records: records, List: kept.graphs.Suppressed(), limits: o.Limits, late: late.Requests{
			Secret: o.Secret, Ledger: kept.ledger, Most: o.Limits.MaxErasureNodes, Out: topics{turns, o.Bus},
			Now: o.Clock.Now,
		}},
	}
	if o.Beside != nil {
		options.CommitsAhead = o.Snapshot.CommitsAhead
	}
	return intake.New(options)
}

// newLogic makes the parts that share the open stores.
func newLogic(o Options, kept stores, searches Searches) *logic {
	turns := &role.Turns{}
	store, wake := kept.graphs, func() { searches.Wake(0) }
	said := &commitments{kept.log, store, o.Secret, o.Logger}
	p := &publisher{
		store: store, turns: turns, cut: cut{o.Partition.Shards, o.Repair}, commitments: said, decided: kept.decided,
	}
	holds := carriers{store, o.Secret, o.Limits.Normalise}
	graphs := &eraser{
		carriers: holds, suppression: suppression{holds, kept.decided}, files: swapstore.Files(o.FS, snapshotsDir(o)),
		publisher: p,
		afresh:    afresh{config: o.Partition},
		scrubbing: scrubbing{store: store, running: o.running(wake)},
	}
	c := coordinator.New(coordinator.Options{
		Config: o.Erasure, Ledger: kept.ledger, Log: kept.log, Backups: kept.backups.Holding, Restored: kept.restored,
		Receipts: kept.receipts, Notes: notes{store},
		Graphs: graphs,
		Bus:    topics{turns, o.Bus}, Clock: o.Clock, Listener: o.Listener, Logger: o.Logger,
	})
	if o.Beside != nil {
		p.ahead = &ahead{
			running: o.running(wake), partition: o.Partition, cut: p.cut, now: o.Clock.Now, first: o.First,
		}
	}
	l := &logic{
		turns: turns, store: store, ledger: kept.ledger, ledgerStore: kept.ledgerStore, coordinator: c, searches: searches,
		questions: o.Questions, eraser: graphs, newest: make(map[bus.TopicPartition]time.Time),
		requestsRead: make(map[bus.TopicPartition]int64), now: o.Clock.Now, commitments: said,
		retention: retention.Retention{
			Keep: o.Erasure.RetainTimesteps, Most: o.Limits.MaxErasureNodes, Scope: o.Erasure.DefaultScope,
			Secret: o.Secret, Graphs: store, Ledger: kept.ledger, Out: topics{turns, o.Bus}, Now: o.Clock.Now,
		},
		intake: newIntake(o, kept, c.Records, turns, wake),
		lifecycle: &lifecycle{
			store: store, publisher: p, letters: intake.Letters{Store: store, Write: turns.Write, Version: o.Version, Listener: o.Listener}, partition: o.Partition, window: o.Snapshot.ReopenWindow,
			ahead:    p.ahead,
			closings: closings{store: store, publisher: p, topics: o.Bus, running: o.running(wake), clock: o.Clock.Now},
			now:      o.Clock.Now, listener: o.Listener, partitionsHold: o.PartitionsHold,
			published: make(map[lethe.Timestep]published), begun: make(map[lethe.Timestep]bool),
		},
	}
	l.written = o.written
	graphs.publishMissing = l.lifecycle.publishMissing
	l.lifecycle.closings.told = l.lifecycle
	if d := kept.decided; d != nil {
		d.store, d.write, d.letters, d.unsent = store, turns.Write, l.lifecycle.letters.SendWaiting, l.lifecycle.unsent
	}
	for _, info := range store.Timesteps() {
		l.lifecycle.begun[info.Timestep] = true
	}
	l.status = l.know()
	return l
}

// know puts together the timesteps, the requests by state and how far the source
// topics have been consumed.
func (l *logic) know() *role.Status {
	s := &role.Status{
		Steps: make(map[lethe.Timestep]role.Step), Erasures: l.coordinator.Counts(),
		Waits:    l.coordinator.Waits(),
		Consumed: make(map[bus.TopicPartition]int64), FeatureCount: l.store.FeatureCount(),
		Watermarks: make(map[bus.TopicPartition]lethe.Timestep), Newest: maps.Clone(l.newest),
	}
	for topic, stream := range map[bus.Topic]snapshot.Stream{
		bus.Transactions: snapshot.Transactions, bus.Labels: snapshot.Labels,
	} {
		for p, watermark := range l.store.Marks().Watermarks(stream) {
			s.Watermarks[bus.TopicPartition{Topic: topic, Partition: p}] = watermark
		}
	}
	for at, next := range l.intake.Durable() {
		s.Consumed[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	// A restart resumes at the oldest request whose targets are needed: what stands behind it was read all the same.
	maps.Copy(s.Consumed, l.requestsRead)
	for _, info := range l.store.Timesteps() {
		if l.lifecycle.closings.sends(info.Timestep) {
			info.State = lethe.Open // until others have its graph
		}
		if s := l.lifecycle.sending; s != nil && s.timestep == info.Timestep {
			info.State = lethe.Closed // until others have its slices
		}
		s.Steps[info.Timestep] = role.Step{
			State: info.State, Nodes: info.Nodes, Payments: info.Payments, Labels: info.Labels,
		}
	}
	return s
}
