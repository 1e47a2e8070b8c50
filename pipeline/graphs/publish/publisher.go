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

// Publisher publishes graphs, slices and manifests of the store.
type Publisher struct {
	Encoder
	Turns *role.Turns
	// Log commits to published slices; it is nil in a standby.
	Log *translog.Log
	// Decisions may be nil.
	Decisions *Decisions
}

// publish returns once the messages are in their topic.
func (p *Publisher) publish(messages ...wire.Message) error {
	return p.Turns.Publish(role.Output{Messages: messages})
}

// Send publishes a dispatch. It can be repeated: marks are stored last.
func (p *Publisher) Send(ctx context.Context, d *Dispatch) error {
	if !d.changes.Publishes() {
		return nil
	}
	if err := p.Decided(ctx, d); err != nil {
		return err
	}
	return p.write(d)
}

// Decided returns once the journal has the dispatch.
func (p *Publisher) Decided(ctx context.Context, d *Dispatch) error {
	return p.Decisions.Change(ctx, d.changes, func() error { return nil })
}

// write publishes and empties a dispatch.
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

// Note stores the marks and leaves of a published dispatch.
func (p *Publisher) Note(d *Dispatch) error {
	if !p.Decisions.IsShared() { // else Change has stored them
		if err := p.Store.Marks().PutEach(MarksOf(d.changes)...); err != nil {
			return err
		}
	}
	return p.commit(d.leaves)
}

// commit adds leaves for published slices to the log.
func (p *Publisher) commit(list []translog.Leaf) error {
	if p.Log == nil {
		return nil
	}
	if _, err := p.Log.Commit(list...); err != nil {
		return fmt.Errorf("commit to %d slices: %w", len(list), err)
	}
	return nil
}

// NoteGraph stores the mark of a graph. If the mark is lost, the graph is published again.
func (p *Publisher) NoteGraph(t lethe.Timestep, r lethe.Revision, digest lethe.Digest) error {
	if p.Decisions.IsShared() {
		return nil // Change has stored it
	}
	return p.Store.Marks().PutUnsynced(Graph.Mark(t, r, digest))
}

// Delete deletes the published artefacts of a timestep.
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

// sentTogether is how many timesteps are encoded side by side: a few for each processor, as all are in memory.
const sentTogether = 8

// Missing publishes unpublished graphs, and slices of some shards.
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

// Part is a timestep at a revision: its graph and, once it is settled, some of its slices.
type Part struct {
	snapshot.Info
	Shards []lethe.ShardID
}

// missing returns a function that adds the unpublished part to a dispatch.
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
