package train

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// publishedTogether bounds the values of a series in memory for publication.
const publishedTogether = 16

// topic is what models.v1 holds, by number and timestep, as far as this process has read or written it. What is
// published is the difference to what the store holds. Nothing of that is stored: a process that starts, or takes
// models over, reads the topic.
type topic map[lethe.ShardID]map[lethe.Timestep]entry

// entry is a model in its topic.
type entry struct {
	digest   lethe.Digest
	revision lethe.Revision
	// lineage is zero if other processes cannot adopt it, payload nil if this one does not have to.
	lineage lethe.Digest
	payload []byte
}

func (t topic) put(key wire.Key, e entry) {
	if t[key.Shard] == nil {
		t[key.Shard] = make(map[lethe.Timestep]entry)
	}
	t[key.Shard][key.Timestep] = e
}

func (t topic) drop(key wire.Key) { delete(t[key.Shard], key.Timestep) }

// readTopic reads all of the topic: a deletion may have gone from it, with what it deletes, before this process came
// to it. All slices that its models were made of have been read.
func (l *logic) readTopic(ctx context.Context) error {
	l.topic = make(topic)
	reader := wire.NewReader().Skipping(func(ingest.Record) {})
	err := l.o.Bus.ReadAll(ctx, bus.Models, func(rec ingest.Record) error {
		source := bus.TopicPartition{Topic: bus.Models, Partition: rec.Partition}
		messages, err := reader.Read(bus.Batch{Source: source, Records: []ingest.Record{rec}})
		for _, m := range messages {
			if m.Deleted {
				l.topic.drop(m.Key)
				continue
			}
			e, _ := l.adoption.entryOf(m)
			l.topic.put(m.Key, e)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("models that are published: %w", err)
	}
	for _, held := range l.topic {
		for t := range held {
			if l.columns.revision(t) == 0 {
				l.columns[0].gone[t] = true
			}
		}
	}
	return nil
}

// pending is what a topic gets next of a series.
type pending struct{ deleted, values []lethe.Timestep }

// pending returns the difference between the topic and the store: models that no score waits for or whose timestep is
// gone are deleted, those that the topic lacks or has otherwise are published.
func (l *learners) pending(s *series) (p pending, err error) {
	held := l.topic[s.number]
	for t := range held {
		if t < s.needed || l.columns.lack(t) {
			p.deleted = append(p.deleted, t)
		}
	}
	slices.Sort(p.deleted)
	first, _ := slices.BinarySearch(s.kept, s.needed)
	for _, t := range s.kept[first:] {
		if len(p.values) == publishedTogether {
			break
		}
		e, found := held[t]
		published := found && !l.asked(s, t)
		if published {
			digest, err := s.digest(t)
			if err != nil {
				return p, err
			}
			published = !e.replacedBy(digest, l.revision(s, t))
		}
		if !published {
			p.values = append(p.values, t)
		}
	}
	return p, nil
}

// replacedBy reports whether a model is published in place of another one. Whoever has made one of a later revision
// has read slices that are not here yet. The same model is published again where its timestep was gone meanwhile:
// score has dropped it.
func (e entry) replacedBy(digest lethe.Digest, r lethe.Revision) bool {
	if e.digest == digest {
		return e.revision < r
	}
	return e.revision <= r
}

// asked reports whether score needs a model again: the timestep of what it serves is gone, and it has dropped the
// models before, whatever the topic holds.
func (l *learners) asked(s *series, t lethe.Timestep) bool {
	return t == s.needed && t < l.served && !s.answered
}

// revision returns that of the slices which a model of a timestep is made of.
func (l *learners) revision(s *series, t lethe.Timestep) lethe.Revision {
	return l.shardsOf(s).revision(t)
}

// shardsOf are the columns that a series learns from.
func (l *learners) shardsOf(s *series) shards {
	if int(s.number) < len(l.models) {
		return l.models[s.number].shards
	}
	return l.columns
}
