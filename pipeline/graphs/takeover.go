package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Heard is what a process that stands by knows of what who leads has published. Its zero value is
// that of one that has read nothing.
type Heard struct {
	// Leader is the data directory that began the newest epoch, or empty.
	Leader string
	// graphs and manifests are the newest of each timestep.
	graphs    map[lethe.Timestep]newest
	manifests map[lethe.Timestep]newest
	// rewritten are the revisions under which erasures that go on have rewritten timesteps, or removed them: others wait
	// for these, and the topic has none of what was removed.
	rewritten map[lethe.Timestep]lethe.Revision
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
		o, err := takeOver(ctx, o.agreed())
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

// takeOver prepares the folder of a process that leads from now on. Ledger and log are those of the topics, unless this
// process led last and may know more than it said: what is of before is removed before an epoch begins, or a process
// that is killed in between would take it for that. The epoch begins before anything is read, so that what another one
// may still write can be told.
func takeOver(ctx context.Context, o Options) (Options, error) {
	if led := o.heard.Leader; led != "" && led != o.Instance {
		if err := forgetLedger(o); err != nil {
			return o, fmt.Errorf("forget the ledger: %w", err)
		}
	}
	if err := o.standing.Begin(ctx, o.Bus, o.heard.read, written()...); err != nil {
		return o, err
	}
	var err error
	if o.stale, err = o.standing.Stale(ctx, o.Bus, written()...); err != nil {
		return o, err
	}
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return o, fmt.Errorf("the copy of the ledger: %w", err)
	}
	o.heard.rewritten = rewritten(kept)
	return o, restoreReceipts(ctx, o, kept)
}

// goBehind has the store go on behind what another process has published: readers take nothing
// older. What that has not published as it is here is published anew, once everything has been read that it may have
// read.
func (h *Heard) goBehind(store *snapshot.Store, p *publisher) (left *unmade, err error) {
	left = &unmade{settled: h.settled(), other: make(map[lethe.Timestep]bool)}
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
	for t := range last {
		if h.graphs[t].revision > 0 {
			left.other[t] = true
		}
	}
	left.steps, err = goBehind(store, last)
	left.steps = slices.DeleteFunc(left.steps, func(t lethe.Timestep) bool {
		return h.graphs[t].revision == 0 && h.manifests[t].revision == 0 // an erasure removed it
	})
	return left, err
}

// settled are the timesteps of which slices were published.
func (h *Heard) settled() map[lethe.Timestep]bool {
	out := make(map[lethe.Timestep]bool)
	for t := range h.manifests {
		out[t] = true
	}
	return out
}

// compare tells behind which revisions timesteps go on, and of which only the revision is another one.
func (h *Heard) compare(
	infos map[lethe.Timestep]snapshot.Info, p *publisher,
) (last, same map[lethe.Timestep]lethe.Revision, err error) {
	last, same = make(map[lethe.Timestep]lethe.Revision), make(map[lethe.Timestep]lethe.Revision)
	gone := p.store.Gone()
	for t := range h.timesteps(infos) {
		i, published := infos[t], max(h.graphs[t].revision, h.manifests[t].revision)
		there := max(published, h.rewritten[t])
		known, err := p.digests(t)
		unsaid, more := p.hasNoted(t, h.graphs[t].revision, h.manifests[t].revision)
		switch equal, sent := h.has(t, known), !known.Graph.IsZero() || !known.Manifest.IsZero(); {
		case err != nil || more != nil:
			return nil, nil, errors.Join(err, more)
		case i.Revision == 0 || i.State == lethe.Open:
			if there > 0 {
				last[t] = max(there, gone[t])
			}
		case i.Revision < there && published == there && equal && known.Manifest == h.manifests[t].digest && h.whole(t):
			same[t] = there
		case i.Revision < there, sent && (!equal || unsaid), i.State == lethe.Closed && h.manifests[t].revision >= i.Revision:
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

// whole reports whether graph and manifest of a timestep, as far as there are both, stand under one revision.
func (h *Heard) whole(t lethe.Timestep) bool {
	manifest, settled := h.manifests[t]
	return !settled || manifest.revision == h.graphs[t].revision
}

// timesteps are those that were published or rewritten, and those of a store.
func (h *Heard) timesteps(infos map[lethe.Timestep]snapshot.Info) map[lethe.Timestep]bool {
	out := make(map[lethe.Timestep]bool)
	for t := range h.rewritten {
		out[t] = true
	}
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

// unmade are timesteps that another process has published of which this one has no record yet, and
// where the topics ended when it took over. What is not made of what stands before that is of
// records that were erased meanwhile: its graph is deleted.
type unmade struct {
	steps []lethe.Timestep
	ends  map[bus.TopicPartition]int64
	// settled are those of which the slices were published.
	settled map[lethe.Timestep]bool
	// removed are those of which it turned out that they are never made, and nobody was told.
	removed map[lethe.Timestep]bool
	// other are those that are, or may be made, otherwise than they were published: who led may have taken records that
	// are still to be read here. What would be published without these meanwhile loses what was predicted of them, which
	// is predicted anew once they are there.
	other map[lethe.Timestep]bool
}

// holds reports whether a timestep is not to be published yet. It may be called of nil.
func (u *unmade) holds(t lethe.Timestep) bool { return u != nil && u.other[t] }

// waits reports whether a timestep is held.
func (u *unmade) waits() bool { return u != nil && len(u.other) > 0 }

// read reports whether everything was read that stood in the topics when this process took over.
func (u *unmade) read(store Store) bool {
	read := store.Offsets()
	for tp, end := range u.ends {
		if read[snapshot.TopicPartition{Topic: string(tp.Topic), Partition: tp.Partition}] < end {
			return false
		}
	}
	return true
}

// has reports whether a timestep may still be made. It may be called of nil.
func (u *unmade) has(t lethe.Timestep) bool { return u != nil && slices.Contains(u.steps, t) }

// settle has the graphs deleted of what was not made, once everything has been read, and holds what is still to be made
// otherwise for late records alone.
func (u *unmade) settle(store Store) error {
	if u == nil || len(u.steps)+len(u.other) == 0 || !u.read(store) {
		return nil
	}
	late := store.Waiting()
	maps.DeleteFunc(u.other, func(t lethe.Timestep, _ bool) bool { return !slices.Contains(late, t) })
	infos := infosOf(store)
	if u.removed == nil {
		u.removed = make(map[lethe.Timestep]bool)
	}
	var left []lethe.Timestep
	for _, t := range u.steps {
		switch info := infos[t]; {
		case info.State > lethe.Open:
			continue
		case info.Nodes > 0: // it may close, or be emptied
			left = append(left, t)
			continue
		}
		if err := store.Marks().Put(mark(goneMark, t), markValue(0, nil)); err != nil {
			return err
		}
		u.removed[t] = true
	}
	u.steps = left
	return nil
}
