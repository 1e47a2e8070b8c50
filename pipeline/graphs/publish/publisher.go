package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/translog"
	"lethe/pipeline/graphs/cutting"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Publisher sends graphs, slices and manifests as they are in the store now.
type Publisher struct {
	Encoder
	Turns *role.Turns
	// Log, if not nil, commits to slices once they are published; it is nil in a process that stands by.
	Log *translog.Log
	// Decisions, if not nil, has what is published in the journal before.
	Decisions *Decisions
}

// publish returns once the messages are in their topic.
func (p *Publisher) publish(messages ...wire.Message) error {
	return p.Turns.Publish(role.Output{Messages: messages})
}

// Send publishes what was put together. Interrupted, it is repeated: no mark
// is there before what it stands for.
func (p *Publisher) Send(ctx context.Context, d *Dispatch) error {
	if !d.changes.Publishes() {
		return nil
	}
	if err := p.Decided(ctx, d); err != nil {
		return err
	}
	return p.write(d)
}

// Decided returns once it is decided that what was put together is published.
func (p *Publisher) Decided(ctx context.Context, d *Dispatch) error {
	return p.Decisions.Change(ctx, d.changes, func() error { return nil })
}

// write publishes what was put together and decided, and empties it.
func (p *Publisher) write(d *Dispatch) error {
	for _, messages := range d.Messages() {
		if err := p.publish(messages...); err != nil {
			return err
		}
	}
	if err := p.Note(d); err != nil {
		return err
	}
	*d = Dispatch{}
	return nil
}

// Note notes that what was put together is published.
func (p *Publisher) Note(d *Dispatch) error {
	if !p.Decisions.IsShared() { // else it was, as it was decided
		if err := p.Store.Marks().PutEach(MarksOf(d.changes)...); err != nil {
			return err
		}
	}
	return p.commit(d.leaves)
}

// commit has the log commit to slices that were published.
func (p *Publisher) commit(list []translog.Leaf) error {
	if p.Log == nil {
		return nil
	}
	if _, err := p.Log.Commit(list...); err != nil {
		return fmt.Errorf("commit to %d slices: %w", len(list), err)
	}
	return nil
}

// NoteGraph notes that a graph was published. If that is lost, it is published again.
func (p *Publisher) NoteGraph(t lethe.Timestep, r lethe.Revision, digest lethe.Digest) error {
	if p.Decisions.IsShared() {
		return nil // it was, as it was decided
	}
	return p.Store.Marks().PutUnsynced(Graph.Mark(t, r, digest))
}

// Delete deletes what was published of a timestep that is gone.
func (p *Publisher) Delete(ctx context.Context, t lethe.Timestep, r lethe.Revision) error {
	changes := journal.TimestepsChanged{Removed: []journal.Artefact{{Timestep: t, Revision: r}}}
	if err := p.Decisions.Change(ctx, changes, func() error { return nil }); err != nil {
		return err
	}
	return p.delete(t, r)
}

func (p *Publisher) delete(t lethe.Timestep, r lethe.Revision) error {
	deleted := make([]wire.Message, p.Cutter.Shards)
	for shard := range deleted {
		key := wire.Key{Kind: wire.KindSlice, Shard: lethe.ShardID(shard), Timestep: t}
		deleted[shard] = wire.Message{Key: key, Deleted: true}
	}
	if err := p.publish(deleted...); err != nil {
		return err
	}
	if err := p.publish(
		wire.Message{Key: wire.Key{Kind: wire.KindManifest, Timestep: t}, Deleted: true},
		wire.Message{Key: wire.Key{Kind: wire.KindSnapshot, Timestep: t}, Deleted: true},
	); err != nil {
		return err
	}
	if err := p.Store.Marks().PutEach(Gone.Mark(t, r)); err != nil {
		return err
	}
	return p.commit(p.leaves(t, r, make([]lethe.Digest, p.Cutter.Shards)))
}

// sentTogether is how many timesteps are put together side by side: a few for each processor,
// but they are all in memory.
const sentTogether = 8

// Missing publishes what was not published yet of timesteps as they are: the graph, and the slices of some shards.
func (p *Publisher) Missing(ctx context.Context, list []Part) (err error) {
	var d Dispatch
	for together := range slices.Chunk(list, sentTogether) {
		parts, working := make([]Dispatch, len(together)), cutting.SideBySide()
		for i, part := range together {
			var add func(*Dispatch) error
			if add, err = p.missing(part); err != nil {
				break
			}
			working.Go(func() error { return add(&parts[i]) })
		}
		if err := errors.Join(working.Wait(), err); err != nil {
			return err
		}
		for _, part := range parts {
			if d.add(part); !d.isFull() {
				continue
			}
			if err := p.Send(ctx, &d); err != nil {
				return err
			}
		}
	}
	return p.Send(ctx, &d)
}

// Part is what is to be published of a timestep at a revision, if it was not: its graph and, once it is settled, some
// of its slices.
type Part struct {
	snapshot.Info
	Shards []lethe.ShardID
}

// missing returns what adds what was not published yet.
func (p *Publisher) missing(part Part) (add func(*Dispatch) error, err error) {
	nothing := func(*Dispatch) error { return nil }
	if part.State == lethe.Open {
		return nothing, nil
	}
	graph, _, err := Graph.Of(p.Store, part.Timestep)
	manifest := part.Revision
	if err == nil && part.State == lethe.Settled {
		manifest, _, err = Manifest.Of(p.Store, part.Timestep)
	}
	if err != nil || min(graph, manifest) >= part.Revision {
		return nothing, err
	}
	content, err := p.Store.Load(part.Timestep)
	return func(d *Dispatch) error {
		if graph < part.Revision {
			p.AddGraph(d, content)
		}
		if manifest >= part.Revision {
			return nil
		}
		if err := p.AddSlices(d, content, part.Shards); err != nil {
			return fmt.Errorf("timestep %d: %w", part.Timestep, err)
		}
		return nil
	}, err
}
