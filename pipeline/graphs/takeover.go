package graphs

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/deletions/ledgercopy"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Heard is what a process knows of those that led before. Its zero value is that of one that has read nothing.
type Heard struct {
	// Leader is the data directory that began the newest epoch, or empty.
	Leader string
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
		as.Open = []bus.Topic{bus.Control}
		o, err := takeOver(ctx, o.agreed())
		if err != nil {
			return nil, fmt.Errorf("%s role: take over: %w", roleName, err)
		}
		return New(ctx, o)
	}
	as.Open = []bus.Topic{bus.Control}
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
	if err := o.standing.Begin(ctx, o.Bus, written()...); err != nil {
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
	return o, restoreReceipts(ctx, o, kept)
}

// again publishes what the journal says is published of a timestep, if that is what the store has of it. Of a graph that
// was rewritten the slices that stayed as they were are no more what it gives; they were published before.
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
func (d *decisions) reaches(o Options, store Store) error {
	if !d.shared {
		return nil
	}
	at, err := positionOf(store)
	if err == nil && d.log.Before().Behind(at) {
		err = o.standing.StandByAgain()
	}
	return err
}

// resumeShared publishes again what the journal asked for last, as whoever led then may not have come to it, and decides
// what that one had not come to either.
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
