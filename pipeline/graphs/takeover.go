package graphs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/disk"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Heard is what a process that stands by knows of what who leads has published. Its zero value is
// that of one that has read nothing.
type Heard struct {
	// Leader is the data directory that said last that it leads, or empty.
	Leader string
	// graphs and manifests are the newest of each timestep.
	graphs    map[lethe.Timestep]newest
	manifests map[lethe.Timestep]newest
	// letters are the dead letters of records that wait, by their keys.
	letters map[string]letterSaid
	// read is up to where partitions of graphs and manifests were read.
	read map[bus.TopicPartition]int64
}

// newest is the newest revision of something, and its digest.
type newest struct {
	revision lethe.Revision
	digest   lethe.Digest
}

// note notes what was published of timesteps.
func (h *Heard) note(messages []wire.Received) {
	for _, m := range messages {
		of := h.graphs
		if m.Key.Kind == wire.KindManifest {
			of = h.manifests
		}
		if m.Deleted {
			delete(of, m.Key.Timestep)
		} else if m.Revision >= of[m.Key.Timestep].revision {
			of[m.Key.Timestep] = newest{m.Revision, canonical.DigestOf(m.Payload)}
		}
	}
}

// As opens the role as a process is to play it: alone without a Standing, else as one that leads or
// stands by. What it hears while it stands by is kept in heard, which all openings of a process
// share.
func As(ctx context.Context, o Options, as *role.Standing, heard *Heard) (*role.Follower, error) {
	if as == nil {
		// Nobody else publishes, so nothing was heard that there would be to go behind.
		return New(ctx, o)
	}
	o.standing, o.heard = as, heard
	if !as.StandsBy() {
		as.Open = []bus.Topic{bus.Control, bus.DeadLetters}
		var err error
		if o.stale, err = as.Stale(ctx, o.Bus, heard.read, written()...); err == nil {
			err = takeOver(ctx, o.agreed())
		}
		if err != nil {
			return nil, fmt.Errorf("%s role: take over: %w", roleName, err)
		}
		return New(ctx, o)
	}
	as.Open = []bus.Topic{bus.Control, bus.Snapshots, bus.DeadLetters} // read without waiting for who leads
	o = o.agreed()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	s, err := openStandby(ctx, o, heard)
	if err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	around := role.Surroundings{
		Bus: o.Bus, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger, Standing: as, Wake: s.wakes,
	}
	return role.Follow(roleName, s, around), nil
}

// takeOver prepares the folder of a process that leads from now on. It says so before anything
// else, so that what another one may still say can be told. Ledger and log are those of the topics,
// unless this process led last and may know more than it said.
func takeOver(ctx context.Context, o Options) error {
	record, err := wire.Leader{Role: roleName, Identity: o.Instance}.Record()
	if err == nil {
		err = o.Bus.Write(ctx, bus.Control, []ingest.Outgoing{record})
	}
	if err != nil {
		return err
	}
	if led := o.heard.Leader; led != "" && led != o.Instance {
		if err := forgetLedger(o); err != nil {
			return fmt.Errorf("forget the ledger: %w", err)
		}
	}
	return restoreReceipts(ctx, o)
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

// restoreReceipts keeps the receipts that others have issued, as they are in their topic. Records there have no code,
// for whoever reads receipts has no secret: what is no receipt of this deployment is passed over.
func restoreReceipts(ctx context.Context, o Options) error {
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	folder := patientReceipts{disk.ReceiptFolder(o.ReceiptsDir), o.Patience}
	missing := make(map[string][]byte)
	err = o.Bus.ReadAll(ctx, bus.Receipts, func(rec ingest.Record) error {
		id := string(rec.Key)
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

// goBehind has the store go on behind what another process has published: readers take nothing
// older. What that has not published as it is here is published anew.
func (h *Heard) goBehind(store *snapshot.Store, p *publisher) (unmade []lethe.Timestep, err error) {
	infos := infosOf(store)
	last, same, err := h.compare(infos, p)
	if err != nil {
		return nil, err
	}
	if len(same) > 0 {
		if err := snapshot.AdoptRevisions(store, same); err != nil {
			return nil, err
		}
	}
	return goBehind(store, last)
}

// compare tells behind which revisions timesteps go on, and of which only the revision is another one.
func (h *Heard) compare(
	infos map[lethe.Timestep]snapshot.Info, p *publisher,
) (last, same map[lethe.Timestep]lethe.Revision, err error) {
	last, same = make(map[lethe.Timestep]lethe.Revision), make(map[lethe.Timestep]lethe.Revision)
	for t := range h.timesteps(infos) {
		i, there := infos[t], max(h.graphs[t].revision, h.manifests[t].revision)
		known, err := p.digests(t)
		switch equal, published := h.has(t, known), !known.Graph.IsZero() || !known.Manifest.IsZero(); {
		case err != nil:
			return nil, nil, err
		case i.Revision == 0 || i.State == lethe.Open:
			if there > 0 {
				last[t] = there
			}
		case i.Revision < there && equal && known.Manifest == h.manifests[t].digest:
			same[t] = there
		case i.Revision < there, published && !equal:
			last[t] = max(i.Revision, there)
		}
	}
	return last, same, nil
}

// has reports whether what was published last of a timestep is what is known here.
func (h *Heard) has(t lethe.Timestep, known deletions.Published) bool {
	graph := known.Graph.IsZero() || known.Graph == h.graphs[t].digest
	return graph && (known.Manifest.IsZero() || known.Manifest == h.manifests[t].digest)
}

// timesteps are those that were published, and those of a store.
func (h *Heard) timesteps(infos map[lethe.Timestep]snapshot.Info) map[lethe.Timestep]bool {
	out := make(map[lethe.Timestep]bool)
	for t := range h.graphs {
		out[t] = true
	}
	for t := range h.manifests {
		out[t] = true
	}
	for t := range infos {
		out[t] = true
	}
	return out
}

// goBehind has timesteps go on behind some revisions, to be published anew. It returns those that are not made here:
// they are deleted once it is certain that they never are.
func goBehind(store *snapshot.Store, last map[lethe.Timestep]lethe.Revision) (unmade []lethe.Timestep, err error) {
	infos := infosOf(store)
	for _, t := range slices.Sorted(maps.Keys(last)) {
		if infos[t].Revision > 0 && infos[t].State > lethe.Open {
			continue
		}
		// What is not there is not to be deleted, as long as it may still be made.
		if err := store.Marks().Put(mark(goneMark, t), markValue(last[t], nil)); err != nil {
			return nil, err
		}
		if infos[t].Revision == 0 {
			unmade = append(unmade, t)
		}
	}
	return unmade, snapshot.GoBehind(store, last)
}

// overwritten are timesteps of which something was written by a process that leads no more: it hung in the midst of
// that, and nobody knew of it when this one took over. Readers leave it out, but it stands in the place of what this
// process has published.
type overwritten struct {
	stale *role.Stale
	// newest are the timesteps, with the newest revision under which something of them was written.
	newest map[lethe.Timestep]lethe.Revision
	log    *slog.Logger
}

// take notes what was written over in a batch.
func (o *overwritten) take(batch bus.Batch) {
	for _, rec := range batch.Records {
		key, revision, of := wire.PartOf(rec)
		if of && o.stale.Is(rec) {
			o.newest[key.Timestep] = max(o.newest[key.Timestep], revision)
		}
	}
}

// sayAgain has what was written over published again, behind the revisions that others may have taken it for.
func (l *logic) sayAgain(ctx context.Context) error {
	o := l.overwritten
	if o == nil || len(o.newest) == 0 {
		return nil
	}
	if err := l.lifecycle.end(ctx); err != nil {
		return err
	}
	infos, gone := infosOf(l.store), l.store.Gone()
	last := make(map[lethe.Timestep]lethe.Revision)
	for t, r := range o.newest {
		if r = max(r, infos[t].Revision, gone[t]); r > 0 { // else something was deleted that is not there
			last[t] = r
		}
	}
	o.log.Warn("graphs: a process that leads no more wrote over what was published; it is published again",
		"timesteps", slices.Sorted(maps.Keys(last)))
	steps, err := goBehind(l.store.(*snapshot.Store), last)
	if err == nil && len(steps) > 0 {
		l.lifecycle.unmade.steps = append(l.lifecycle.unmade.steps, steps...)
		l.lifecycle.unmade.ends, err = bus.EndsOf(ctx, l.intake.ends, bus.Transactions, bus.Labels)
	}
	clear(o.newest)
	return err
}
