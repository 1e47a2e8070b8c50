package train

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/journal"
	"lethe/scoring/ensemble"
)

// openModels reads every model's state, and removes values of models that are no longer in the ensemble.
func (l *learners) openModels() error {
	value, found, err := l.columns[0].store.Get([]byte(servedKey))
	if err != nil {
		return err
	}
	const timestepBytes = 8
	if found && len(value) > timestepBytes {
		l.served = lethe.Timestep(binary.BigEndian.Uint64(value))
		l.servedAt, _ = journal.CutPlace(value[timestepBytes:])
	}
	if err := l.removeObsolete(); err != nil {
		return err
	}
	cache := newUnions(l.meta == nil)
	for number := range lethe.ShardID(l.layout.Models()) {
		m, err := l.openModel(number, cache)
		if err != nil {
			return err
		}
		l.models = append(l.models, m)
		for _, c := range m.shards {
			c.learners = append(c.learners, m)
		}
	}
	return l.openOver()
}

func (l *learners) openModel(number lethe.ShardID, cache *unions) (*model, error) {
	component, _ := l.layout.Place(number)
	m := &model{
		config: l.layout.Config(number), layout: l.layout, cache: cache, replayThrough: lethe.NoTimestep,
	}
	for _, shard := range l.layout.ShardsOf(number) {
		m.shards = append(m.shards, l.columns[shard])
	}
	first := m.shards[0]
	var err error
	if m.series, err = openSeries(first.store, number, component); err == nil {
		with := fmt.Sprintf("model %d of %d shards", number, len(m.shards))
		err = m.made(with)
	}
	if err == nil {
		m.onDemand = m.fitsAnew()
		err = m.load()
	}
	if err != nil {
		return nil, unreadable(err, first.shard, shardDir(l.dir, first.shard))
	}
	return m, nil
}

func (l *learners) openOver() error {
	if l.meta == nil {
		return nil
	}
	over := &overModels{
		config: *l.meta, shards: l.columns, models: l.models, known: new(ensemble.Known),
	}
	var err error
	if over.series, err = openSeries(l.columns[0].store, lethe.ShardID(len(l.models)), overall); err == nil {
		err = over.made(fmt.Sprintf("%s of %d models", l.meta.Fingerprint(), len(l.models)))
	}
	if err != nil {
		return unreadable(err, 0, shardDir(l.dir, 0))
	}
	over.onDemand = true
	l.over = over
	for _, c := range l.columns {
		c.learners = append(c.learners, over)
	}
	return nil
}

// removeObsolete removes values of models that are no longer in the ensemble: no erasure would replace them.
func (l *learners) removeObsolete() error {
	for _, c := range l.columns {
		var gone [][]byte
		for _, prefix := range []string{checkpointPrefix, committedPrefix} {
			if err := c.store.Scan([]byte(prefix), func(key, _ []byte) error {
				_, component, err := splitLearnt(prefix, key)
				if err == nil && !l.belongs(c.shard, component) {
					gone = append(gone, append([]byte(nil), key...))
				}
				return err
			}); err != nil {
				return unreadable(err, c.shard, shardDir(l.dir, c.shard))
			}
		}
		if len(gone) == 0 {
			continue
		}
		if err := c.store.Apply(func(w swapstore.Writer) error {
			for _, key := range gone {
				w.Delete(key)
			}
			return nil
		}); err != nil {
			return fmt.Errorf("shard %d: remove models that are not in the ensemble: %w", c.shard, err)
		}
	}
	return nil
}

// belongs reports whether a component's values belong in a shard's store.
func (l *learners) belongs(shard lethe.ShardID, component int) bool {
	if component == overall {
		return l.meta != nil && shard == 0
	}
	if component >= len(l.layout.Components) {
		return false
	}
	number := l.layout.ModelsOf(shard)[component]
	return l.layout.ShardsOf(number)[0] == shard
}
