package graphs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Role builds graphs and drives the erasure coordinator. Use New, Run once, then
// Close.
type Role struct {
	o           Options
	ledger      *deletions.Ledger
	ledgerStore *swapstore.Store
	// What follows is there once Run has opened the snapshot store.
	store       *snapshot.Store
	intake      *intake
	lifecycle   *lifecycle
	coordinator *coordinator.Coordinator
	// verdicts delivers the outcome of a search that runs beside the loop.
	verdicts  chan coordinator.Verdict
	searching bool
	status    atomic.Pointer[role.Status]
}

// New opens the ledger. The snapshot store is opened by Run, because it needs
// to know how many partitions the topics have.
func New(o Options) (*Role, error) {
	o = o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("build role: %w", err)
	}
	if err := os.MkdirAll(o.Erasure.ReceiptsDir, 0o755); err != nil {
		return nil, fmt.Errorf("build role: receipts folder: %w", err)
	}
	ledger, store, err := coordinator.OpenLedger(o.Dir, o.Clock.Now)
	if err != nil {
		return nil, fmt.Errorf("build role: %w", err)
	}
	r := &Role{o: o, ledger: ledger, ledgerStore: store, verdicts: make(chan coordinator.Verdict, 1)}
	r.status.Store(&role.Status{Consumed: make(map[bus.TopicPartition]int64)})
	return r, nil
}

// Close closes the stores. It must not be called while Run is running.
func (r *Role) Close() error {
	var errs []error
	if r.store != nil {
		errs = append(errs, r.store.Close())
	}
	return errors.Join(append(errs, r.ledgerStore.Close())...)
}

// open opens the snapshot store for the topics as they are.
func (r *Role) open(ctx context.Context) error {
	partitions := make(map[bus.Topic]int)
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Slices} {
		n, err := r.o.Client.Partitions(ctx, topic)
		if err != nil {
			return err
		}
		partitions[topic] = n
	}
	store, err := snapshot.Open(filepath.Join(r.o.Dir, "snapshots"), snapshot.Options{
		Config:                r.o.Snapshot,
		Secret:                r.o.Secret,
		TransactionPartitions: partitions[bus.Transactions],
		LabelPartitions:       partitions[bus.Labels],
	})
	if err != nil {
		return err
	}
	r.store = store
	if err := checkSettings(store.Marks(), r.o.settings()); err != nil {
		return err
	}
	r.assemble(partitions[bus.Slices])
	return nil
}

// assemble makes the parts that share the open store.
func (r *Role) assemble(slicePartitions int) {
	published := &publisher{
		store: r.store, client: r.o.Client, cut: cut{r.o.Shards, r.o.Repair}, partitions: slicePartitions,
	}
	refused := &letters{client: r.o.Client, version: r.o.Version, listener: r.o.Listener}
	r.lifecycle = &lifecycle{
		store: r.store, publisher: published, letters: refused, partition: r.o.Partition, listener: r.o.Listener,
		published: make(map[lethe.Timestep]lethe.State), begun: make(map[lethe.Timestep]bool),
	}
	for _, info := range r.store.Timesteps() {
		r.lifecycle.begun[info.Timestep] = true
	}
	r.coordinator = coordinator.New(coordinator.Options{
		Config: r.o.Erasure, Ledger: r.ledger,
		Graphs: &eraser{store: r.store, publisher: published, secret: r.o.Secret, dir: r.o.Dir},
		Notes:  notes{r.store}, Bus: r.o.Client, Clock: r.o.Clock, Listener: r.o.Listener, Logger: r.o.Logger,
	})
	r.intake = &intake{
		store: r.store, letters: refused, erased: r.coordinator, limits: r.o.Limits, listener: r.o.Listener,
	}
}

// Run follows the topics until the context ends, which is not an error.
func (r *Role) Run(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	positions, err := r.positions(ctx)
	if err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	tail, err := r.o.Client.Tail(positions)
	if err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	defer tail.Close()
	running, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		if r.searching {
			// The search beside the loop uses what the caller closes next.
			<-r.verdicts
		}
	}()
	// What was closed, settled, rewritten or decided before a crash may not have
	// been published.
	for _, step := range []func(context.Context) error{r.coordinator.Resume, r.advance} {
		if err := step(running); err != nil {
			return wire.UnlessStopped(ctx, err)
		}
	}
	batches, pumped := r.pump(running, tail)
	// Whether the role was stopped is for the outer context to say: by its own
	// cancel every error of the loop would pass for that.
	err = wire.UnlessStopped(ctx, r.loop(running, batches))
	cancel()
	return errors.Join(err, <-pumped)
}

// pump hands the tail's batches to the loop, so that the loop can also wait for
// other things. Its error is final and ends the loop.
func (r *Role) pump(ctx context.Context, tail *bus.Tail) (<-chan bus.Batch, <-chan error) {
	batches, done := make(chan bus.Batch), make(chan error, 1)
	go func() {
		defer close(batches)
		for {
			batch, err := role.Next(ctx, tail, r.o.Logger)
			if err != nil {
				done <- wire.UnlessStopped(ctx, err)
				return
			}
			select {
			case batches <- batch:
			case <-ctx.Done():
				done <- nil
				return
			}
		}
	}()
	return batches, done
}

// loop deals with one thing after the other.
func (r *Role) loop(ctx context.Context, batches <-chan bus.Batch) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-ticker.C:
			err = r.coordinator.Tick(ctx)
		case batch, open := <-batches:
			if !open {
				return nil
			}
			err = r.take(ctx, batch)
		case v := <-r.verdicts:
			r.searching = false
			err = r.coordinator.Conclude(ctx, v)
		case <-ctx.Done():
			return nil
		}
		if err == nil {
			err = r.advance(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (r *Role) take(ctx context.Context, batch bus.Batch) (err error) {
	switch batch.Source.Topic {
	case bus.Erasures:
		err = r.coordinator.TakeRequests(ctx, batch)
	case bus.ErasureStatus:
		return r.coordinator.TakeNotices(batch)
	default:
		err = r.intake.take(ctx, batch)
		r.lifecycle.noteBegun()
	}
	r.o.Listener.LagMeasured(events.LagMeasured{
		Topic: string(batch.Source.Topic), Partition: batch.Source.Partition, Records: max(0, batch.End-batch.Next),
	})
	return err
}

// advance does everything that is due.
func (r *Role) advance(ctx context.Context) error {
	if err := r.lifecycle.advance(ctx); err != nil {
		return err
	}
	if err := r.coordinator.Advance(ctx); err != nil {
		return err
	}
	if search := r.coordinator.NextSearch(); search != nil {
		r.searching = true
		go func() { r.verdicts <- search.Run(ctx) }()
	}
	r.publishStatus()
	return nil
}

// positions returns where to resume every partition. Acknowledgements are few
// and read from their start.
func (r *Role) positions(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	positions := make(map[bus.TopicPartition]int64)
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures} {
		n, err := r.o.Client.Partitions(ctx, topic)
		if err != nil {
			return nil, err
		}
		for p := range n {
			positions[bus.TopicPartition{Topic: topic, Partition: p}] = bus.FromStart
		}
	}
	for at, next := range r.store.Offsets() {
		positions[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	positions[bus.TopicPartition{Topic: bus.ErasureStatus}] = bus.FromStart
	return positions, nil
}
