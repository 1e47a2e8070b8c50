package train

import (
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// change is a message for the topic and its effect on the entries, once published.
type change struct {
	wire.Message
	entry entry
	// requested is the series of which score requested the model again, or nil.
	requested *series
}

// publish publishes pending changes.
func (l *learners) publish() (out role.Output, err error) {
	changes, err := l.changes()
	for _, c := range changes {
		out.Messages = append(out.Messages, c.Message)
	}
	out.Note = func() error {
		for _, c := range changes {
			l.topic.apply(c)
		}
		for _, s := range l.all() {
			if l.owns(s.number) {
				s.fresh = nil
			}
		}
		return nil
	}
	return out, err
}

// apply applies a published change.
func (t topic) apply(c change) {
	if c.Deleted {
		t.drop(c.Key)
		return
	}
	t.put(c.Key, c.entry)
	if c.requested != nil {
		c.requested.republished = true
	}
}

// changes returns the pending changes of this process's series, and deletes models that no series has.
func (l *learners) changes() (all []change, err error) {
	for _, s := range l.all() {
		if !l.owns(s.number) {
			continue
		}
		next, err := l.pending(s)
		if err != nil {
			return nil, err
		}
		all = append(all, tombstones(s.number, next.deleted)...)
		for _, t := range next.values {
			c, err := l.value(s, t)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(l.topic)) {
		if l.seriesOf(number) == nil && l.owns(number) {
			all = append(all, tombstones(number, slices.Sorted(maps.Keys(l.topic[number])))...)
		}
	}
	return all, nil
}

func tombstones(number lethe.ShardID, timesteps []lethe.Timestep) (all []change) {
	for _, t := range timesteps {
		all = append(all, change{Message: wire.Message{Key: modelKey(number, t), Deleted: true}})
	}
	return all
}

// value returns a model to be published.
func (l *learners) value(s *series, t lethe.Timestep) (c change, err error) {
	requested := l.requested(s, t)
	if requested {
		c.requested = s
	}
	c.Message = wire.Message{
		Key: modelKey(s.number, t), Revision: l.revision(s, t), Owner: l.share.ownerOf(l.shardOf(s.number)),
		Last: requested || t == l.shardsOf(s).newest(),
	}
	if c.Payload, err = s.value(t); err != nil {
		return c, err
	}
	c.entry = entry{digest: canonical.DigestOf(c.Payload), revision: c.Revision}
	c.entry.lineage, err = s.lineage(t)
	return c, err
}

func modelKey(number lethe.ShardID, t lethe.Timestep) wire.Key {
	return wire.Key{Kind: wire.KindModel, Shard: number, Timestep: t}
}
