package worlds

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// witness looks at every record the moment it is written, for what leaves no trace in the end: who
// acknowledged what was not so yet, and who wrote although another one had taken over.
type witness struct {
	// read is up to where topics were looked at.
	read map[bus.Topic]map[int]int64
	// versions are all slices that were published.
	versions map[place][]version
	// slices are the newest of each, owned the models as their owners wrote them last, and stale those whose newest
	// record is of somebody who had lost them.
	slices map[place]published
	owned  map[place]lethe.Digest
	stale  map[place]wire.Message
	// makers and leaders tell who made models and led roles, by model and by topic.
	makers  map[lethe.ShardID]wire.Fence
	leaders map[bus.Topic]wire.Fence
	// commands are those that were sent of each request, the newest last.
	commands map[string][]*wire.Command
	faults   []string

	readers map[bus.Topic]*wire.Reader
	notices *wire.NoticeReader
}

// published is a slice as it stands, and the timestep before it.
type published struct {
	digest   lethe.Digest
	previous lethe.Timestep
}

// version is a slice as it was published.
type version struct {
	revision lethe.Revision
	digest   lethe.Digest
}

func newWitness() *witness {
	w := &witness{
		read: make(map[bus.Topic]map[int]int64), versions: make(map[place][]version),
		slices: make(map[place]published), owned: make(map[place]lethe.Digest), stale: make(map[place]wire.Message),
		makers: make(map[lethe.ShardID]wire.Fence), leaders: make(map[bus.Topic]wire.Fence),
		commands: make(map[string][]*wire.Command),
	}
	w.begin()
	return w
}

// begin has it read topics on from where it is. What was torn there is written again.
func (w *witness) begin() {
	w.readers, w.notices = make(map[bus.Topic]*wire.Reader), wire.NewNoticeReader()
	for _, topic := range []bus.Topic{bus.Snapshots, bus.Slices, bus.Models} {
		w.readers[topic] = wire.NewReader()
	}
}

func (w *witness) clone() *witness {
	out := &witness{
		read: make(map[bus.Topic]map[int]int64), versions: make(map[place][]version),
		slices: maps.Clone(w.slices), owned: maps.Clone(w.owned), stale: maps.Clone(w.stale),
		makers: maps.Clone(w.makers), leaders: maps.Clone(w.leaders), faults: slices.Clone(w.faults),
	}
	for topic, positions := range w.read {
		out.read[topic] = maps.Clone(positions)
	}
	out.commands = make(map[string][]*wire.Command)
	for id, list := range w.commands {
		out.commands[id] = slices.Clone(list)
	}
	for at, list := range w.versions {
		out.versions[at] = slices.Clone(list)
	}
	out.begin()
	return out
}

// look looks at what was written to a topic. files are those of all processes.
func (w *witness) look(ctx context.Context, topics *roletest.Bus, topic bus.Topic, l *log, files *disk) error {
	if w.read[topic] == nil {
		w.read[topic] = make(map[int]int64)
	}
	return topics.ReadNew(ctx, topic, w.read[topic], func(rec ingest.Record) error {
		switch topic {
		case bus.Snapshots, bus.Slices, bus.Models:
			w.leads(topic, rec)
			source := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
			batch := bus.Batch{Source: source, Records: []ingest.Record{rec}, Next: rec.Offset + 1}
			messages, err := w.readers[topic].Read(batch)
			for _, m := range messages {
				if err == nil {
					err = w.message(m, l)
				}
			}
			return err
		case bus.Predictions, bus.Reasons:
			if !rec.Tombstone() { // those who erase write them, too
				w.leads(topic, rec)
			}
			return nil
		case bus.Control:
			n, err := w.notices.Read(rec)
			switch {
			case err != nil:
				return err
			case n.Command != nil && n.Command.Phase.Rewrites():
				w.commands[n.Command.RequestID] = append(w.commands[n.Command.RequestID], n.Command)
			case n.Ack != nil && n.Ack.Role == ofTrain && n.Ack.Step == deletions.StepPurged:
				return w.purged(n.Ack, files)
			}
			return nil
		default:
			return nil
		}
	})
}

// leads looks whether who wrote a record leads the role that writes its topic.
func (w *witness) leads(topic bus.Topic, rec ingest.Record) {
	by, tells := wire.OwnerOf(rec)
	if !tells || topic == bus.Models {
		return
	}
	fence := w.leaders[topic]
	if fence.Stale(by) {
		w.faults = append(w.faults, fmt.Sprintf("%s/%d@%d was written by %s, after another one had taken over",
			topic, rec.Partition, rec.Offset, by))
	}
	w.leaders[topic] = fence
}

// message takes a graph, a slice or a model.
func (w *witness) message(m wire.Received, l *log) error {
	at := place{m.Key.Timestep, m.Key.Shard}
	switch m.Key.Kind {
	case wire.KindSnapshot:
		var graph *lethe.Snapshot
		if !m.Deleted {
			var err error
			if graph, err = canonical.DecodeSnapshot(m.Payload); err != nil {
				return err
			}
		}
		l.leave(m.Key.Timestep, graph)
	case wire.KindSlice:
		if m.Deleted {
			delete(w.slices, at)
			return nil
		}
		s, err := canonical.DecodeSlice(m.Payload)
		if err != nil {
			return err
		}
		w.slices[at] = published{canonical.DigestOf(m.Payload), s.Previous}
		w.versions[at] = append(w.versions[at], version{m.Revision, w.slices[at].digest})
	case wire.KindModel:
		fence := w.makers[m.Key.Shard]
		delete(w.stale, at)
		switch stale := fence.Stale(m.Owner); {
		case m.Deleted:
			delete(w.owned, at)
		case stale:
			w.stale[at] = m.Message
		default:
			w.owned[at] = canonical.DigestOf(m.Payload)
		}
		w.makers[m.Key.Shard] = fence
	default:
	}
	return nil
}

// leave notes that transactions have left a timestep: those that come back are predicted again.
func (l *log) leave(t lethe.Timestep, graph *lethe.Snapshot) {
	maps.DeleteFunc(l.said, func(s saying, _ string) bool {
		if s.timestep != t || graph == nil {
			return s.timestep == t
		}
		_, holds := graph.Find(secret.Pseudonym(s.transaction))
		return !holds
	})
}

// rests notes what must not be when everything has come to rest: a model as somebody wrote it who had lost it, for
// compaction leaves that one, unless its owner wrote the same, or it is the one that the slices give. Whether that is
// right is compared in the end.
func (w *witness) rests(m models) error {
	lineages := w.lineages(m)
	for at, stale := range w.stale {
		if w.owned[at] == canonical.DigestOf(stale.Payload) {
			continue
		}
		wanted, known := lineages.At(at.timestep)
		lineage, err := m.lineageOf(stale)
		if err != nil {
			return err
		}
		if !known || lineage != wanted[at.shard] {
			w.faults = append(w.faults, fmt.Sprintf("model %d of timestep %d is as somebody wrote it who had lost it",
				at.shard, at.timestep))
		}
	}
	slices.Sort(w.faults)
	return nil
}

// lineages are those that models must have by the slices as they stand.
func (w *witness) lineages(m models) *ensemble.Lineages {
	out := ensemble.NewLineages(m.layout, m.over)
	for at, first := range w.slices {
		digests := make([]lethe.Digest, shards)
		for shard := range digests {
			if s, here := w.slices[place{at.timestep, lethe.ShardID(shard)}]; here && s.previous == first.previous {
				digests[shard] = s.digest
			}
		}
		if !slices.Contains(digests, lethe.Digest{}) {
			out.Learn(at.timestep, first.previous, digests)
		}
	}
	return out
}
