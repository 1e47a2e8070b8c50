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
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Role builds graphs and carries out erasures. Use New, Run once, then Close.
type Role struct {
	o           Options
	ledger      *deletions.Ledger
	ledgerStore *swapstore.Store
	store       *snapshot.Store
	// jobs are the requests whose ids are still needed, in the order received.
	jobs []job
	// acks are what the other roles have acknowledged.
	acks map[string]*acknowledged
	// checked delivers the outcome of a verification that runs beside the loop.
	checked chan verdict
	// checking is the request under verification, or empty.
	checking string
	// stirred says that a request may be able to go on.
	stirred bool
	// published notes the states that were published in this run; the durable
	// marks are in the store.
	published map[lethe.Timestep]lethe.State
	// begun are the timesteps that the listener has heard of.
	begun map[lethe.Timestep]bool
	// slicePartitions is the topic's number of partitions.
	slicePartitions int
	// counts are the requests by state.
	counts map[deletions.State]int
	status atomic.Pointer[role.Status]
	// erased looks for whatever was erased so far; nil when that has changed.
	erased *scan.Scanner
	// rolls counts the markers still to follow a withdrawal, rolled is when the
	// last was written.
	rolls  int
	rolled time.Time
}

// New opens the ledger. The snapshot store is opened by Run, because it needs
// to know how many partitions the topics have.
func New(o Options) (*Role, error) {
	o = o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("build role: %w", err)
	}
	if err := os.MkdirAll(o.ReceiptsDir, 0o755); err != nil {
		return nil, fmt.Errorf("build role: receipts folder: %w", err)
	}
	ledger, store, err := OpenLedger(o.Dir, o.Clock)
	if err != nil {
		return nil, fmt.Errorf("build role: %w", err)
	}
	r := &Role{
		o: o, ledger: ledger, ledgerStore: store,
		acks: make(map[string]*acknowledged), checked: make(chan verdict, 1),
		published: make(map[lethe.Timestep]lethe.State), begun: make(map[lethe.Timestep]bool), stirred: true,
	}
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
	transactions, err := r.o.Client.Partitions(ctx, bus.Transactions)
	if err != nil {
		return err
	}
	labels, err := r.o.Client.Partitions(ctx, bus.Labels)
	if err != nil {
		return err
	}
	if r.slicePartitions, err = r.o.Client.Partitions(ctx, bus.Slices); err != nil {
		return err
	}
	r.store, err = snapshot.Open(filepath.Join(r.o.Dir, "snapshots"), snapshot.Options{
		Config:                r.o.Snapshot,
		Secret:                r.o.Secret,
		TransactionPartitions: transactions,
		LabelPartitions:       labels,
	})
	if err != nil {
		return err
	}
	for _, info := range r.store.Timesteps() {
		r.begun[info.Timestep] = true
	}
	return r.checkSettings()
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
		if r.checking != "" {
			// The search beside the loop uses what the caller closes next.
			<-r.checked
		}
	}()
	// What was closed, settled, rewritten or decided before a crash may not have
	// been published.
	for _, step := range []func(context.Context) error{r.resume, r.reissue, r.advance} {
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
			// A failed request is tried again after a while.
			r.stirred = r.stirred || r.counts[deletions.Failed] > 0
			err = r.rollLater(ctx)
		case batch, open := <-batches:
			if !open {
				return nil
			}
			err = r.take(ctx, batch)
		case v := <-r.checked:
			r.stirred = true
			err = r.conclude(ctx, v)
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
		r.stirred = true
		err = r.takeRequests(ctx, batch)
	case bus.ErasureStatus:
		r.stirred = true
		return r.takeAcks(batch)
	default:
		err = r.takeRecords(ctx, batch)
		r.noteBegun()
	}
	r.o.Listener.LagMeasured(events.LagMeasured{
		Topic: string(batch.Source.Topic), Partition: batch.Source.Partition, Records: max(0, batch.End-batch.Next),
	})
	return err
}

// noteBegun tells the listener of the timesteps that a batch began.
func (r *Role) noteBegun() {
	for _, info := range r.store.Timesteps() {
		if info.State == lethe.Open && !r.begun[info.Timestep] {
			r.begun[info.Timestep] = true
			r.o.Listener.SnapshotChanged(events.SnapshotChanged{Timestep: info.Timestep, State: lethe.Open})
		}
	}
}

// advance does everything that is due.
func (r *Role) advance(ctx context.Context) error {
	if err := r.advanceTimesteps(ctx); err != nil {
		return err
	}
	if r.stirred {
		if err := r.advanceErasures(ctx); err != nil {
			return err
		}
		if err := r.countErasures(); err != nil {
			return err
		}
		r.stirred = false
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

// deadLetter keeps a refused record and tells the listener.
func (r *Role) deadLetter(rec ingest.Record, refusal *ingest.Refusal) ingest.Outgoing {
	r.o.Listener.RecordDeadLettered(events.RecordDeadLettered{Topic: rec.Topic, Reason: string(refusal.Reason)})
	return ingest.DeadLetter(rec, refusal, r.o.Version)
}

// writeLetters writes dead letters, if there are any.
func (r *Role) writeLetters(ctx context.Context, letters []ingest.Outgoing) error {
	if len(letters) == 0 {
		return nil
	}
	if err := r.o.Client.Write(ctx, bus.DeadLetters, letters); err != nil {
		return fmt.Errorf("write %d dead letters: %w", len(letters), err)
	}
	return nil
}
