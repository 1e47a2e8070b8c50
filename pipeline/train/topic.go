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

// topic is the content of models.v1, by number and timestep, as far as this process has read or written it. The
// difference to the store is published. It is not stored: a process that starts or takes models over reads the topic.
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

// readTopic reads all of the topic: compaction may have removed a deletion, with the model that it deletes, before
// this process read it. All slices that its models were made of have been read.
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

// pending are the next changes of a series in the topic.
type pending struct{ deleted, values []lethe.Timestep }

// pending returns the difference between the topic and the store: it deletes models that no score waits for or whose
// timestep is gone, and publishes those that the topic lacks or holds with other content.
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
		published := found && !l.requested(s, t)
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

// replacedBy reports whether a model is to be published over the entry. A process that published a later revision has
// read slices that are not here yet. The same model is published again if its timestep was gone in between: score has
// dropped it.
func (e entry) replacedBy(digest lethe.Digest, r lethe.Revision) bool {
	if e.digest == digest {
		return e.revision < r
	}
	return e.revision <= r
}

// requested reports whether score needs a model again: the timestep of its served ensemble is gone, and it has dropped
// earlier models, whatever the topic holds.
func (l *learners) requested(s *series, t lethe.Timestep) bool {
	return t == s.needed && t < l.served && !s.republished
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
