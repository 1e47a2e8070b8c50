package graphs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/disk"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/patientfs"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Bus is what the role and the coordinator need of the topics; role.Kafka is one.
type Bus interface {
	role.Bus
	search.Topics
}

var _ Bus = role.Kafka{}

// Searches runs the searches that verify erasures, and wakes the role
// when time has passed.
type Searches interface {
	// Begin begins a search. It may run beside the steps until the context ends.
	Begin(ctx context.Context, s *search.Search)
	// Verdict returns the outcome of a search that has ended, once.
	Verdict() (search.Verdict, bool)
	// Wake has the role step, with nothing new, after a while.
	Wake(after time.Duration)
	// Wait waits until no search runs.
	Wait()
}

// running is what runs beside the loop.
type running struct {
	// beside, if not nil, runs work beside the loop, and wake has the role step.
	beside  func(work func())
	wake    func()
	working sync.WaitGroup
}

// running is what runs beside the role's loop, and has it step.
func (o Options) running(wake func()) running { return running{beside: o.Beside, wake: wake} }

// run runs work beside the loop, and wakes the role then.
func (r *running) run(work func()) {
	r.working.Add(1)
	r.beside(func() {
		defer r.working.Done()
		work()
		r.wake()
	})
}

// asyncSearches runs searches at the same time as the steps. Their end wakes the role.
type asyncSearches struct {
	running
	searcher search.Searcher
	verdicts chan search.Verdict
	wakes    chan struct{}
}

var _ Searches = (*asyncSearches)(nil)

func newAsyncSearches(s search.Searcher, o Options) *asyncSearches {
	wakes := o.wakes()
	return &asyncSearches{
		running:  o.running(func() { signal(wakes) }),
		searcher: s, verdicts: make(chan search.Verdict, maxSearches), wakes: wakes,
	}
}

// maxSearches is how many searches there are at a time: one that locates, one that
// verifies.
const maxSearches = 2

// Begin implements Searches. A verdict is taken before the next search of its kind
// begins.
func (b *asyncSearches) Begin(ctx context.Context, s *search.Search) {
	b.run(func() { b.verdicts <- b.searcher.Run(ctx, s) })
}

// Wake implements Searches.
func (b *asyncSearches) Wake(after time.Duration) { time.AfterFunc(after, func() { signal(b.wakes) }) }

// signal wakes the role, unless that is about to happen.
func signal(wakes chan<- struct{}) {
	select {
	case wakes <- struct{}{}:
	default:
	}
}

// Verdict implements Searches.
func (b *asyncSearches) Verdict() (search.Verdict, bool) {
	select {
	case v := <-b.verdicts:
		return v, true
	default:
		return search.Verdict{}, false
	}
}

// Wait implements Searches.
func (b *asyncSearches) Wait() { b.working.Wait() }

// topics are those of a bus as steps see them: what is written to them is the
// output of a step.
type topics struct {
	*role.Turns
	reads Bus
}

var _ search.Bus = topics{}

// Partitions implements bus.Writer.
func (t topics) Partitions(ctx context.Context, topic bus.Topic) (int, error) {
	return t.reads.Partitions(ctx, topic)
}

// ReadNew implements search.Bus.
func (t topics) ReadNew(
	ctx context.Context, topic bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return t.reads.ReadNew(ctx, topic, positions, fn)
}

// RollMarkers implements search.Bus.
func (t topics) RollMarkers(ctx context.Context, list ...bus.Topic) error {
	return bus.RollMarkers(ctx, t, list...)
}

// notes keeps the coordinator's notes in the snapshot store, with the offsets.
type notes struct{ store *snapshot.Store }

var _ coordinator.Notes = notes{}

func concludedMark(requestID string) []byte { return []byte("concluded/" + requestID) }

// Commit implements coordinator.Notes.
func (n notes) Commit(source bus.TopicPartition, next int64) error {
	tx, err := n.store.Begin(snapshot.Source{
		Stream: snapshot.NoStream, Topic: string(source.Topic), Partition: source.Partition,
	})
	if err != nil {
		return err
	}
	return tx.Commit(next)
}

// Taken implements coordinator.Notes.
func (n notes) Taken() map[int]int64 {
	out := make(map[int]int64)
	for source, next := range n.store.Offsets() {
		if source.Topic == string(bus.Transactions) {
			out[source.Partition] = next
		}
	}
	return out
}

// Concluded implements coordinator.Notes.
func (n notes) Concluded(requestID string) (bool, error) {
	_, found, err := n.store.Marks().Get(concludedMark(requestID))
	if err != nil {
		return false, fmt.Errorf("request %s: %w", requestID, err)
	}
	return found, nil
}

// Conclude implements coordinator.Notes.
func (n notes) Conclude(requestIDs ...string) error {
	marks := make([][]byte, len(requestIDs))
	for i, id := range requestIDs {
		marks[i] = concludedMark(id)
	}
	return n.store.Marks().PutAll(marks, nil)
}

// patientReceipts waits where a receipt cannot be written now.
type patientReceipts struct {
	disk.ReceiptFolder
	patience *patientfs.Patience
}

// Keep implements coordinator.Receipts.
func (r patientReceipts) Keep(signed map[string][]byte) error {
	return r.patience.Do(string(r.ReceiptFolder), func() error { return r.ReceiptFolder.Keep(signed) })
}

// restoreReceipts keeps the receipts that others have issued, as they are in their topic. What is no receipt of this
// deployment is passed over.
func restoreReceipts(ctx context.Context, o Options, kept ledgercopy.Copy) error {
	folder := patientReceipts{disk.ReceiptFolder(o.ReceiptsDir), o.Patience}
	missing := make(map[string][]byte)
	err := o.Bus.ReadAll(ctx, bus.Receipts, func(rec ingest.Record) error {
		id := string(rec.Key)
		if rec.Unproven != "" {
			return nil // the view names it
		}
		if rec.Tombstone() || !deletions.ValidRequestID(id) {
			delete(missing, id)
			return nil
		}
		if has, err := folder.Has(id); has || err != nil {
			return err
		}
		var entry *deletions.Entry
		if e, known := kept.Entries[id]; known {
			entry = &e
		}
		if o.Erasure.Issued(rec.Value, id, entry) {
			missing[id] = slices.Clone(rec.Value)
		} else {
			o.Logger.Error("what is no receipt of this deployment was passed over", "topic", rec.Topic,
				"partition", rec.Partition, "offset", rec.Offset)
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	return folder.Keep(missing)
}
