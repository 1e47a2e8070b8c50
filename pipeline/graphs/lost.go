package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// What was erased must not come back because a folder was lost. At every start the
// ledger is compared with its copy in the topics and with the receipts, and the store of
// graphs with the ledger.

// ErrLost is returned when state is gone that nothing else tells. The operator puts it
// back from a copy, or begins again with an empty directory.
var ErrLost = errors.New("state was lost that says what was erased")

// refuseOlder refuses to make graphs again of topics that are older than the ledger: these hold
// what was erased since, with slices under revisions that other roles would not replace.
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

const remedyAnew = "begin anew with an empty data directory and empty topics"

// suppressAgain has the store suppress whatever the ledger says was erased, or is being
// erased. A store that was lost while a request was being carried out is not made again:
// nobody could tell any more what of the request is done.
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
		if err := beginBehind(ctx, o.Bus, store); err != nil {
			return err
		}
	}
	if o.standing == nil { // else the journal says so first
		if err := erase.SuppressAsIn(store, entries); err != nil {
			return err
		}
	}
	return store.Marks().Put(begunMark(), []byte{1})
}

// begunMark is in every store that was compared with the ledger once. One that has it and
// holds nothing has taken nothing yet, and was not lost.
func begunMark() []byte { return []byte("begun") }

// isNew reports whether a store was not begun yet: it has taken nothing and suppresses
// nothing of this.
func isNew(store *snapshot.Store, erased []lethe.Digest) (bool, error) {
	_, begun, err := store.Marks().Get(begunMark())
	holds := len(store.Offsets())+len(store.Timesteps()) > 0 || slices.ContainsFunc(erased, store.Suppressed().Has)
	return !begun && !holds, err
}

// A store of graphs that was lost is made again from the source topics, which hold
// nothing of what was erased, or hold it suppressed. What other roles know has a
// revision, and they take nothing older: so timesteps that were replaced since they
// closed begin behind the last revision of theirs in the topics.

// beginBehind prepares a store that has taken nothing yet.
func beginBehind(ctx context.Context, topics Bus, store *snapshot.Store) error {
	last, err := lastRevisions(ctx, topics)
	if err != nil {
		return fmt.Errorf("revisions of the graphs in %s: %w", bus.Snapshots, err)
	}
	for t, r := range last {
		// What is not there is not to be deleted.
		if err := store.Marks().PutEach(publish.Gone.Mark(t, r)); err != nil {
			return err
		}
	}
	return snapshot.BeginBehind(store, last)
}

// lastRevisions returns the revisions of the graphs that were replaced since they closed.
func lastRevisions(ctx context.Context, topics Bus) (map[lethe.Timestep]lethe.Revision, error) {
	out := make(map[lethe.Timestep]lethe.Revision)
	err := topics.ReadAll(ctx, bus.Snapshots, func(rec ingest.Record) error {
		key, revision, found := wire.RevisionOf(rec)
		if found && revision > 1 {
			out[key.Timestep] = max(out[key.Timestep], revision)
		}
		return nil
	})
	return out, err
}

// namesIn calls take with the transactions of all graphs.
func namesIn(store *snapshot.Store) func(take func(lethe.TransactionID)) error {
	return func(take func(lethe.TransactionID)) error {
		for _, info := range store.Timesteps() {
			if info.State == lethe.Open {
				continue // they are in their topic
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

// suppressCopied has a store suppress what the ledger's copy says is erased, or being erased for good: its store may
// have been lost, and the journal says so only where the records were taken.
func suppressCopied(ctx context.Context, o Options, store *snapshot.Store) error {
	kept, err := ledgercopy.Read(ctx, o.Bus)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	var entries []deletions.Entry
	for _, id := range slices.Sorted(maps.Keys(kept.Entries)) {
		if e := kept.Entries[id]; e.Suppresses() && !e.State.Cancellable() {
			entries = append(entries, e)
		}
	}
	if err := erase.SuppressAsIn(store, entries); err != nil {
		return err
	}
	return store.Marks().Put(begunMark(), []byte{1})
}
