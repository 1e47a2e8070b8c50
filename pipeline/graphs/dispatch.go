package graphs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// dispatchBytes is from how much on what was put together is sent: each sending waits for
// the brokers.
const dispatchBytes = 4 << 20

// dispatch is what is published together: graphs and slices, then the manifests that name
// these, then the marks that say so, and at last what the log says of the slices.
type dispatch struct {
	graphs, slices, manifests []wire.Message
	// changes say what is published.
	changes journal.TimestepsChanged
	// leaves commit to the slices.
	leaves []translog.Leaf
	bytes  int
}

func (d *dispatch) graph(m wire.Message) {
	d.graphs = append(d.graphs, m)
	d.bytes += len(m.Payload)
}

func (d *dispatch) slice(m wire.Message) {
	d.slices = append(d.slices, m)
	d.bytes += len(m.Payload)
}

// add adds what else was put together.
func (d *dispatch) add(other dispatch) {
	d.graphs, d.slices = append(d.graphs, other.graphs...), append(d.slices, other.slices...)
	d.manifests = append(d.manifests, other.manifests...)
	d.changes.Graphs = append(d.changes.Graphs, other.changes.Graphs...)
	d.changes.Manifests = append(d.changes.Manifests, other.changes.Manifests...)
	d.leaves = append(d.leaves, other.leaves...)
	d.bytes += other.bytes
}

// send publishes what was put together, and empties it. Interrupted, it is repeated: no mark
// is there before what it stands for.
func (p *publisher) send(ctx context.Context, d *dispatch) error {
	if !d.changes.Publishes() {
		return nil
	}
	if err := p.decided.change(ctx, d.changes, func() error { return nil }); err != nil {
		return err
	}
	return p.write(d)
}

// write publishes what was put together and decided, and empties it.
func (p *publisher) write(d *dispatch) error {
	for _, messages := range [][]wire.Message{d.graphs, d.slices, d.manifests} {
		if len(messages) == 0 {
			continue
		}
		if err := p.publish(messages...); err != nil {
			return err
		}
	}
	if err := p.note(d); err != nil {
		return err
	}
	*d = dispatch{}
	return nil
}

// note notes that what was put together is published.
func (p *publisher) note(d *dispatch) error {
	if !p.decided.isShared() { // else it was, as it was decided
		if err := p.store.Marks().PutEach(marksOf(d.changes)...); err != nil {
			return err
		}
	}
	return p.commitments.slices(d.leaves)
}

// encodedTogether is how many timesteps are put together side by side: a few for each processor,
// but they are all in memory.
const encodedTogether = 8

// replaced publishes the graphs and the replaced slices of timesteps, unless they were.
func (p *publisher) replaced(
	ctx context.Context, infos map[lethe.Timestep]snapshot.Info, list []coordinator.Replaced,
) (err error) {
	var d dispatch
	for together := range slices.Chunk(list, encodedTogether) {
		parts, working := make([]dispatch, len(together)), newSideBySide()
		for i, r := range together {
			var m missing
			if m, err = p.missing(infos[r.Timestep], r); err != nil {
				break
			}
			working.Go(func() error { return p.add(&parts[i], m) })
		}
		if err := errors.Join(working.Wait(), err); err != nil {
			return err
		}
		for _, part := range parts {
			if d.add(part); d.bytes < dispatchBytes && d.changes.Digests() < mostInAnEntry {
				continue
			}
			if err := p.send(ctx, &d); err != nil {
				return err
			}
		}
	}
	return p.send(ctx, &d)
}

// missing is what is still to be published of a timestep.
type missing struct {
	content       *snapshot.Content
	graph, slices bool
	// shards are those whose slices are, if any are.
	shards []lethe.ShardID
}

// missing tells what was not published yet of a rewritten timestep.
func (p *publisher) missing(info snapshot.Info, r coordinator.Replaced) (m missing, err error) {
	if info.State == lethe.Open {
		return m, nil
	}
	revision, _, err := p.published(graphMark, r.Timestep)
	m.graph = revision < info.Revision
	if err == nil && info.State == lethe.Settled {
		revision, _, err = p.published(manifestMark, r.Timestep)
		m.slices, m.shards = revision < info.Revision, r.Shards
	}
	if err == nil && (m.graph || m.slices) {
		m.content, err = p.store.Load(r.Timestep)
	}
	return m, err
}

// add adds what is missing of a timestep to what is published.
func (p *publisher) add(d *dispatch, m missing) error {
	if m.graph {
		p.addGraph(d, m.content)
	}
	if !m.slices {
		return nil
	}
	if err := p.addSlices(d, m.content, m.shards); err != nil {
		return fmt.Errorf("timestep %d: %w", m.content.Info.Timestep, err)
	}
	return nil
}

// leadersTopics are those that the leader of graphs alone writes. A fenced leader that hung in the midst of a write may
// still write there. Readers leave that out, but compaction would remove what stood under its key. So the leader reads
// these topics too, and publishes that again.
func leadersTopics() []bus.Topic {
	return []bus.Topic{bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log}
}

// written is what the leader reads of these topics.
type written struct {
	leaders *wire.Leaders
	from    map[bus.TopicPartition]int64
	// late are the timesteps of which something was written late, with its newest revision.
	late   map[lethe.Timestep]lethe.Revision
	logger *slog.Logger
}

// readWritten prepares to read the topics, for a process that has begun an epoch.
func readWritten(ctx context.Context, o Options) (*written, error) {
	from, err := o.standing.Unnoted(ctx, o.Bus, leadersTopics()...)
	for source := range from {
		if source.Topic == bus.Log {
			from[source] = o.standing.Ended(source) // what stands before was compared with the log
		}
	}
	return &written{o.leaders, from, make(map[lethe.Timestep]lethe.Revision), o.Logger}, err
}

// publishAgain has timesteps of which something was written late published again, under a revision behind that.
func (l *logic) publishAgain(ctx context.Context) error {
	if l.written == nil || len(l.written.late) == 0 {
		return nil
	}
	if err := l.lifecycle.end(ctx); err != nil {
		return err
	}
	infos, gone, late := infosOf(l.store), l.store.Gone(), l.written.late
	for t, r := range late {
		late[t] = max(r, infos[t].Revision, gone[t])
	}
	maps.DeleteFunc(late, func(_ lethe.Timestep, r lethe.Revision) bool { return r == 0 }) // deleted, and not there
	l.written.logger.Warn("graphs: a fenced leader wrote over what was published; it is published again",
		"timesteps", slices.Sorted(maps.Keys(late)))
	l.written.late = make(map[lethe.Timestep]lethe.Revision)
	return snapshot.GoBehind(l.store, late)
}
