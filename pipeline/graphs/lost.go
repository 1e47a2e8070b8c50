package graphs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/coordinator"
	"lethe/deletions/disk"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// What was erased must not come back because a folder was lost. At every start the
// ledger is compared with its copy in the topics and with the receipts, and the store of
// graphs with the ledger.

// ErrLost is returned when state is gone that nothing else tells. The operator puts it
// back from a copy, or begins again with an empty directory.
var ErrLost = errors.New("state was lost that says what was erased")

// restoreLedger puts into the ledger what it lacks, and into its copy what that lacks.
func restoreLedger(ctx context.Context, o Options, store *snapshot.Store, ledger *deletions.Ledger) error {
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	uncopied, err := kept.Restore(ledger)
	if errors.Is(err, ledgercopy.ErrLost) {
		return fmt.Errorf("%w: %w (put the folder %s/ledger back from a copy, or %s)", ErrLost, err, o.Dir, remedyAnew)
	}
	if err != nil {
		return err
	}
	// Before anything is copied: the next start is to find the same.
	if err := refuseOlder(ctx, o, store, uncopied); err != nil {
		return err
	}
	holds, err := kept.UncopiedHolds(ledger, wire.IsSigned) // earlier versions signed none
	if err == nil && len(uncopied)+len(holds) > 0 {
		err = refuseCut(ctx, o.Bus, store)
	}
	if err != nil {
		return err
	}
	for _, e := range uncopied {
		records, err := ledgercopy.Records(o.Secret, e)
		if err != nil {
			return err
		}
		if err := wire.Say(ctx, o.Bus, records); err != nil {
			return err
		}
	}
	if err := coordinator.SayHolds(ctx, o.Bus, o.Secret, o.Erasure.SigningKey, holds...); err != nil {
		return err
	}
	return requireEntries(o, ledger)
}

// refuseCut refuses topics that end before what was taken of them, before the ledger is copied to
// them: once they had the copy, nobody could tell any more that they are older than it.
func refuseCut(ctx context.Context, topics Bus, store *snapshot.Store) error {
	ends := make(map[bus.Topic][]int64)
	for at, next := range store.Offsets() {
		topic := bus.Topic(at.Topic)
		if ends[topic] == nil {
			var err error
			if ends[topic], err = topics.EndOffsets(ctx, topic); err != nil {
				return err
			}
		}
		if at.Partition < len(ends[topic]) && next > ends[topic][at.Partition] {
			return fmt.Errorf("follow %s/%d from %d: %w", topic, at.Partition, next, bus.PastEnd(ends[topic][at.Partition]))
		}
	}
	return nil
}

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

// requireEntries checks that the ledger knows every request that has a receipt.
func requireEntries(o Options, ledger *deletions.Ledger) error {
	files, err := os.ReadDir(o.ReceiptsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range files {
		id, isReceipt := strings.CutSuffix(file.Name(), ".json")
		if !isReceipt || !deletions.ValidRequestID(id) {
			continue
		}
		_, err := ledger.Get(id)
		if errors.Is(err, deletions.ErrUnknownRequest) {
			return fmt.Errorf("%w: neither the ledger nor its copy knows request %s, which has a receipt "+
				"(put the folder %s/ledger back from a copy; to begin anew, move the receipts elsewhere)", ErrLost, id, o.Dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

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
		if err := suppressAsIn(store, entries); err != nil {
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
		if err := store.Marks().Put(mark(goneMark, t), markValue(r, nil)); err != nil {
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

// publishRewritten has timesteps published anew, under the next revision, that were rewritten and not published as they
// are: what an erasure has changed is else its coordinator's to publish.
func publishRewritten(store *snapshot.Store) func() error {
	return func() error {
		p, due := &publisher{store: store}, make(map[lethe.Timestep]lethe.Revision)
		for _, info := range store.Timesteps() {
			graph, _, err := p.published(graphMark, info.Timestep)
			manifest, _, more := p.published(manifestMark, info.Timestep)
			if err = errors.Join(err, more); err != nil {
				return err
			}
			if info.State > lethe.Open && info.Reopened < info.Revision &&
				(graph < info.Revision || info.State == lethe.Settled && manifest < info.Revision) {
				due[info.Timestep] = info.Revision
			}
		}
		return snapshot.GoBehind(store, due)
	}
}

// forgetLedger removes ledger and log, which are made again of the topics. The registry of backups,
// which is on no topic, stays.
func forgetLedger(o Options) error {
	_, store, err := disk.OpenLedger(o.FS, o.Dir, o.Clock.Now)
	if err != nil {
		return err
	}
	list, err := backups.In(disk.KV(store)).List()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if err := disk.RemoveLedger(o.FS, o.Dir); err != nil || len(list) == 0 {
		return err
	}
	if _, store, err = disk.OpenLedger(o.FS, o.Dir, o.Clock.Now); err != nil {
		return err
	}
	for _, b := range list {
		err = errors.Join(err, backups.In(disk.KV(store)).Put(b))
	}
	return errors.Join(err, store.Close())
}
