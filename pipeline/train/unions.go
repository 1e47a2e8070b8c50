package train

import (
	"maps"
	"sync"

	"lethe"
)

// unions caches decoded and merged slices for models of the same shards. It is safe for concurrent use.
type unions struct {
	mu   sync.Mutex
	kept map[unionOf]*unionColumn
}

// unionOf identifies consecutive shards. A model with a single shard of its own number has that slice itself, whose
// digest differs from a union of one.
type unionOf struct {
	first, last lethe.ShardID
	itself      bool
}

type unionColumn struct {
	slices map[lethe.Timestep]*lethe.Slice
	// begins are the window begins of each model.
	begins map[lethe.ShardID]lethe.Timestep
}

func newUnions() *unions { return &unions{kept: make(map[unionOf]*unionColumn)} }

// of returns the column of a model's shards. u.mu is held.
func (u *unions) of(m *model) *unionColumn {
	key := unionOf{first: m.shards[0].shard, last: m.shards[len(m.shards)-1].shard}
	key.itself = len(m.shards) == 1 && key.first == m.number
	if u.kept[key] == nil {
		u.kept[key] = &unionColumn{make(map[lethe.Timestep]*lethe.Slice), make(map[lethe.ShardID]lethe.Timestep)}
	}
	return u.kept[key]
}

// slice returns what a model learns from.
func (u *unions) slice(m *model, t lethe.Timestep) (*lethe.Slice, error) {
	u.mu.Lock()
	kept := u.of(m).slices[t]
	u.mu.Unlock()
	if kept == nil {
		parts := make([]*lethe.Slice, len(m.shards))
		for i, c := range m.shards {
			var err error
			if parts[i], err = c.slice(t); err != nil {
				return nil, err
			}
		}
		var err error
		if kept, err = m.layout.Slice(m.number, parts); err != nil {
			return nil, err
		}
		u.mu.Lock()
		u.of(m).slices[t] = kept
		u.mu.Unlock()
	}
	if kept.Shard == m.number {
		return kept, nil
	}
	other := *kept
	other.Shard = m.number
	return &other, nil
}

// drop forgets the slices from a timestep on.
func (u *unions) drop(m *model, from lethe.Timestep) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.of(m).slices, func(t lethe.Timestep, _ *lethe.Slice) bool { return t >= from })
}

// trim forgets the slices before every model's window. begin is this model's.
func (u *unions) trim(m *model, begin lethe.Timestep) {
	u.mu.Lock()
	defer u.mu.Unlock()
	column := u.of(m)
	column.begins[m.number] = begin
	for _, other := range column.begins {
		begin = min(begin, other)
	}
	for t := range column.slices {
		if t < begin {
			delete(column.slices, t)
		}
	}
}
