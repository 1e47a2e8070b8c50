package graphs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// A lost folder must not bring back erased data. Each start compares the ledger with its copy in the topics and with
// the receipts, and the store of graphs with the ledger.

// ErrLost is returned for lost state that cannot be rebuilt. The operator restores it from a copy or begins with an
// empty directory.
var ErrLost = errors.New("state was lost that says what was erased")

// refuseOlder refuses to rebuild graphs from topics that are older than the ledger: they hold data that was erased
// since, and slices with revisions that other roles would not replace.
func refuseOlder(ctx context.Context, o Options, store *snapshot.Store, uncopied []deletions.Entry) error {
	var erased []lethe.Digest
	missing := ""
	for _, e := range uncopied {
		erased = append(erased, e.Suppressed()...)
		if e.Suppresses() && e.State.Final() {
			missing = e.RequestID
		}
	}
	fresh, err := isNew(store, erased)
	if err != nil || !fresh || missing == "" {
		return err
	}
	published := false
	err = o.Bus.ReadAll(ctx, bus.Snapshots, func(ingest.Record) error {
		published = true
		return nil
	})
	if err != nil || !published {
		return err
	}
	return fmt.Errorf("%w: %s/snapshots holds nothing, and %s does not know how request %s ended: the topics are older "+
		"than the ledger (put the topics back as they were, or %s)", ErrLost, o.Dir, bus.Control, missing, remedyAnew)
}

const remedyAnew = "start over with an empty data directory and empty topics"

// suppressAgain suppresses in the store all targets of the ledger. A store that was lost during a request is not
// rebuilt: the progress of the request would be unknown.
func suppressAgain(ctx context.Context, o Options, store *snapshot.Store, ledger *deletions.Ledger) error {
	entries, err := ledger.List()
	if err != nil {
		return err
	}
	var erased []lethe.Digest
	underWay := ""
	for _, e := range entries {
		if !e.Suppresses() {
			continue
		}
		erased = append(erased, e.Suppressed()...)
		if !e.State.Final() {
			underWay = e.RequestID
		}
	}
	fresh, err := isNew(store, erased)
	if err != nil {
		return err
	}
	if fresh {
		if underWay != "" {
			return fmt.Errorf("%w: %s/snapshots holds nothing, but request %s is being carried out "+
				"(put it back from a copy, or %s)", ErrLost, o.Dir, underWay, remedyAnew)
		}
		if err := continueRevisions(ctx, o.Bus, store); err != nil {
			return err
		}
	}
	if o.standing == nil { // else the journal comes first
		if err := erase.SuppressAsIn(store, entries); err != nil {
			return err
		}
	}
	return store.Marks().Put(begunMark(), []byte{1})
}

// begunMark is in every store that was compared with the ledger. An empty store with it is new and was not lost.
func begunMark() []byte { return []byte("begun") }

// isNew reports whether a store is unused: it has consumed nothing and suppresses none of the targets.
func isNew(store *snapshot.Store, erased []lethe.Digest) (bool, error) {
	_, begun, err := store.Marks().Get(begunMark())
	holds := len(store.Offsets())+len(store.Timesteps()) > 0 || slices.ContainsFunc(erased, store.Suppressed().Has)
	return !begun && !holds, err
}

// A lost store of graphs is rebuilt from the source topics, which hold erased data only suppressed. Other roles ignore
// known revisions: so a timestep begins behind its last published one. Its first graph may be another than before, as
// partitions are read in another order: with records that were late.

// continueRevisions prepares an unused store.
func continueRevisions(ctx context.Context, topics Bus, store *snapshot.Store) error {
	last, err := lastRevisions(ctx, topics)
	if err != nil {
		return fmt.Errorf("revisions of the graphs in %s: %w", bus.Snapshots, err)
	}
	if len(last) > 0 {
		if err := store.Marks().Put(rebuildMark(), []byte{1}); err != nil {
			return err
		}
	}
	for t, r := range last {
		// It has nothing to delete.
		if err := store.Marks().PutEach(publish.Gone.Mark(t, r)); err != nil {
			return err
		}
	}
	return store.Revisions().Continue(last)
}

// lastRevisions returns the published revisions of graphs.
func lastRevisions(ctx context.Context, topics Bus) (map[lethe.Timestep]lethe.Revision, error) {
	out := make(map[lethe.Timestep]lethe.Revision)
	return out, topics.ReadAll(ctx, bus.Snapshots, func(rec ingest.Record) error {
		if key, revision, found := wire.RevisionOf(rec); found {
			out[key.Timestep] = max(out[key.Timestep], revision)
		}
		return nil
	})
}

// rebuildMark is in a lost store until it is rebuilt.
func rebuildMark() []byte { return []byte("rebuilding") }

// rebuild are the offsets up to which a lost store reads the source topics before requests are processed; nil if it is
// rebuilt. Otherwise targets would be suppressed before they are read again: a timestep of targets alone would not
// return, and its published graph would stay.
type rebuild map[bus.TopicPartition]int64

// rebuildOf returns the rebuild of a store.
func rebuildOf(ctx context.Context, topics Bus, store *snapshot.Store) (rebuild, error) {
	value, _, err := store.Marks().Get(rebuildMark())
	if err != nil || len(value) == 0 {
		return nil, err
	}
	return bus.EndsOf(ctx, topics, bus.Transactions, bus.Labels)
}

// endRebuild ends the rebuild once all that topics had is in closed timesteps, and processes the requests that waited.
func (l *logic) endRebuild(ctx context.Context) error {
	if l.rebuild == nil || l.timesteps.IsBusy() {
		return nil
	}
	offsets := l.store.Offsets()
	for tp, end := range l.rebuild {
		if offsets[snapshot.TopicPartition{Topic: string(tp.Topic), Partition: tp.Partition}] < end {
			return nil
		}
	}
	if err := l.store.Marks().Put(rebuildMark(), nil); err != nil {
		return err
	}
	l.rebuild = nil
	if err := l.takeRequests(ctx); err != nil {
		return err
	}
	return l.advance(ctx)
}

// takeRequests processes the requests that were read, unless a lost store is being rebuilt.
func (l *logic) takeRequests(ctx context.Context) error {
	for l.rebuild == nil && len(l.requests) > 0 {
		if err := l.coordinator.Requests.Take(ctx, l.requests[0]); err != nil {
			return err
		}
		l.progress.read(l.requests[0])
		l.requests = l.requests[1:]
	}
	return nil
}

// namesIn calls take with the transactions of all graphs.
func namesIn(store *snapshot.Store) func(take func(lethe.TransactionID)) error {
	return func(take func(lethe.TransactionID)) error {
		for _, info := range store.Timesteps() {
			if info.State == lethe.Open {
				continue // its transactions are in their topic
			}
			content, err := store.Load(info.Timestep)
			if err != nil {
				return err
			}
			for _, n := range content.Snapshot.Nodes {
				take(n.ID)
			}
		}
		return nil
	}
}

// suppressCopied suppresses in a store all erased targets in the copy of the ledger: the store may have been lost, and
// a reader of the journal may have passed their entries.
func suppressCopied(ctx context.Context, o Options, store *snapshot.Store) error {
	kept, err := ledgercopy.Read(ctx, o.Bus)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	if err := erase.SuppressAsIn(store, kept.Erased()); err != nil {
		return err
	}
	return store.Marks().Put(begunMark(), []byte{1})
}
