package graphs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// decisions are what the process that leads writes to the journal before it does it, so that all stores are a function
// of the journal. An entry is appended only once what those before it ask for is published, but for what the entry
// names as unsent; so what is left to whoever takes over is to publish again what the last one asks for. A process that
// shares the role with no other has the number of features alone in the journal.
type decisions struct {
	log   *journal.Log
	store *snapshot.Store
	// shared says that other processes stand by.
	shared bool
	// features is the number that was decided, or 0.
	features int
	write    journal.Write
	// letters publishes the dead letters of the store.
	letters func(ctx context.Context) error
	// unsent are the timesteps of which something is being published.
	unsent func() []lethe.Timestep
}

// readDecided reads what was decided.
func readDecided(ctx context.Context, o Options) (*decisions, error) {
	if o.standing != nil {
		return &decisions{shared: true, log: o.standing.Journal()}, nil
	}
	d := new(decisions)
	var err error
	d.log, err = o.standing.ReadJournal(ctx, o.Bus, journal.ForGraphs, roleName, o.Instance, func(e journal.Entry) {
		if features, is := e.Decision.(journal.FeaturesDecided); is {
			d.features = features.Count
		}
	})
	return d, err
}

// isShared may be called of nil.
func (d *decisions) isShared() bool { return d != nil && d.shared }

// settle publishes the dead letters of what was done before, as an entry says that it is.
func (d *decisions) settle(ctx context.Context) error {
	if !d.isShared() {
		return nil
	}
	return d.letters(ctx)
}

// Decide does something once the journal says so.
func (d *decisions) Decide(ctx context.Context, what journal.Decision, do func() error) error {
	if !d.isShared() {
		return do()
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.log.Append(ctx, d.write, what); err != nil {
		return err
	}
	if _, err := begins(d.store, what, d.log.Done()); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return putPosition(d.store, d.log.Done())
}

// change decides what becomes of timesteps. What the entry says of what is published is noted at once.
func (d *decisions) change(ctx context.Context, what journal.TimestepsChanged, do func() error) error {
	if !d.isShared() {
		return do()
	}
	if what.Publishes() {
		what.Unsent = d.unsent()
	}
	return d.Decide(ctx, what, func() error {
		if err := do(); err != nil {
			return err
		}
		return d.store.Marks().PutUnsynced(marksOf(what)...)
	})
}

// Features implements intake.Decisions.
func (d *decisions) Features(ctx context.Context, first int) error {
	count := cmp.Or(d.features, first)
	if count == 0 {
		return nil
	}
	fix := func() error { return d.store.Marks().FixFeatureCount(count) }
	if d.shared || d.features == count {
		return d.Decide(ctx, journal.FeaturesDecided{Count: count}, fix)
	}
	if err := d.log.Append(ctx, d.write, journal.FeaturesDecided{Count: count}); err != nil {
		return err
	}
	return fix()
}

func positionMark() []byte { return []byte("journal") }

// positionOf is the last entry of the journal that a store has done.
func positionOf(store *snapshot.Store) (p journal.Position, err error) {
	value, _, err := store.Marks().Get(positionMark())
	place, next := journal.CutPlace(value)
	if len(next) > 0 {
		p = journal.Position{Place: place, Next: int64(binary.BigEndian.Uint64(next))}
	}
	return p, err
}

// putPosition follows what an entry asks for. After a crash in between the entry is done again, which changes nothing.
func putPosition(store *snapshot.Store, p journal.Position) error {
	value := binary.BigEndian.AppendUint64(p.AppendTo(nil), uint64(p.Next))
	return store.Marks().PutUnsynced(snapshot.Mark{Key: positionMark(), Value: value})
}

func doingMark() []byte { return []byte("journal/doing") }

// begins notes that an entry is being done, and reports whether it was not before a crash: the dead letters that it
// made then are not published, as those of entries before it are. A batch makes none, and would be outdated.
func begins(store *snapshot.Store, what journal.Decision, at journal.Position) (first bool, err error) {
	if _, is := what.(journal.Consumed); is {
		return true, nil
	}
	value := fmt.Appendf(nil, "%d/%d", at.Epoch, at.Number)
	before, _, err := store.Marks().Get(doingMark())
	if err != nil || bytes.Equal(before, value) {
		return false, err
	}
	return true, store.Marks().PutUnsynced(snapshot.Mark{Key: doingMark(), Value: value})
}

func unsentMark() []byte { return []byte("unsent") }

// marksOf are the marks of what an entry says is published.
func marksOf(c journal.TimestepsChanged) (out []snapshot.Mark) {
	var unsent []byte
	add := func(kind string, list []journal.Artefact) {
		for _, a := range list {
			digests := slices.Clone(a.Slices)
			if !a.Digest.IsZero() {
				digests = append(digests, a.Digest)
			}
			out = append(out, snapshot.Mark{Key: mark(kind, a.Timestep), Value: markValue(a.Revision, digests)})
			unsent = binary.BigEndian.AppendUint64(unsent, uint64(a.Timestep))
		}
	}
	add(graphMark, c.Graphs)
	add(manifestMark, c.Manifests)
	add(goneMark, c.Removed)
	if !c.Publishes() {
		return nil
	}
	for _, t := range c.Unsent {
		unsent = binary.BigEndian.AppendUint64(unsent, uint64(t))
	}
	return append(out, snapshot.Mark{Key: unsentMark(), Value: unsent})
}

// unsentOf are the timesteps that the last entry asks to publish, and those of entries before that were not.
func unsentOf(store *snapshot.Store) (out []lethe.Timestep, err error) {
	value, _, err := store.Marks().Get(unsentMark())
	for ; len(value) > 0; value = value[8:] {
		out = append(out, lethe.Timestep(binary.BigEndian.Uint64(value)))
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// again publishes what the journal says is published of a timestep, if that is what the store has of it. Of a graph
// that was rewritten the slices that stayed as they were are no more what it gives; they were published before.
func (p *publisher) again(t lethe.Timestep) error {
	if revision, _, err := p.published(goneMark, t); err != nil || revision > 0 && p.store.Gone()[t] == revision {
		if err != nil {
			return err
		}
		return p.delete(t, revision)
	}
	info := infosOf(p.store)[t]
	graph, _, err := p.published(graphMark, t)
	manifest, _, more := p.published(manifestMark, t)
	if err = errors.Join(err, more); err != nil || info.State == lethe.Open || info.Revision != max(graph, manifest) {
		return err // it is published otherwise
	}
	content, err := p.store.Load(t)
	if err != nil {
		return err
	}
	var d dispatch
	if graph == info.Revision {
		p.addGraph(&d, content)
	}
	if manifest == info.Revision && info.State == lethe.Settled {
		same, err := p.asPublished(content)
		if err == nil {
			err = p.addSlices(&d, content, same)
		}
		if err != nil {
			return err
		}
	}
	return p.write(&d)
}

// asPublished are the shards of which a settled timestep gives the slices that were published last.
func (p *publisher) asPublished(content *snapshot.Content) (same []lethe.ShardID, err error) {
	last := make([]lethe.Digest, p.cut.shards)
	if err := p.lastDigests(content.Info.Timestep, last); err != nil {
		return nil, err
	}
	digests, err := p.cut.digests(content.Snapshot, content.Info.Previous, content.Assignment)
	for i, digest := range digests {
		if digest == last[i] {
			same = append(same, lethe.ShardID(i))
		}
	}
	return same, err
}

// reaches reports an error unless a store has done all that was decided before this process began its epoch.
func (d *decisions) reaches(o Options, store *snapshot.Store) error {
	if !d.shared {
		return nil
	}
	at, err := positionOf(store)
	if err == nil && d.log.Before().Behind(at.Place) {
		err = o.standing.StandByAgain()
	}
	return err
}

// resumeShared publishes again what the journal asked for last, as whoever led then may not have come to it, and
// decides what that one had not come to either.
func (l *logic) resumeShared(ctx context.Context) error {
	if !l.lifecycle.publisher.decided.isShared() {
		return nil
	}
	entries, err := l.ledger.List()
	if err != nil {
		return err
	}
	timesteps, err := unsentOf(l.store)
	for _, t := range timesteps {
		if err = l.lifecycle.publisher.again(t); err != nil {
			return fmt.Errorf("publish timestep %d again: %w", t, err)
		}
	}
	if err != nil {
		return err
	}
	return l.eraser.resume(ctx, entries)
}
