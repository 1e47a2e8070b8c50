package train

import (
	"maps"
	"sync"

	"lethe"
)

// unions keeps the slices that models are trained on, decoded and put together, so that
// models of the same shards share them. Several goroutines may use it.
type unions struct {
	mu   sync.Mutex
	kept map[unionOf]*unionColumn
}

// unionOf names some consecutive shards. That of a single shard whose number a model has
// is the shard's slice itself, whose digest is another than that of a union of one.
type unionOf struct {
	first, last lethe.ShardID
	itself      bool
}

// unionColumn is the slices of some shards, by timestep.
type unionColumn struct {
	slices map[lethe.Timestep]*lethe.Slice
	// begins is where the window begins that each model looked at last, by its number.
	begins map[lethe.ShardID]lethe.Timestep
}

func newUnions() *unions { return &unions{kept: make(map[unionOf]*unionColumn)} }

// of returns the column of a model's shards. The lock is held.
func (u *unions) of(m *model) *unionColumn {
	key := unionOf{first: m.shards[0].shard, last: m.shards[len(m.shards)-1].shard}
	key.itself = len(m.shards) == 1 && key.first == m.number
	if u.kept[key] == nil {
		u.kept[key] = &unionColumn{make(map[lethe.Timestep]*lethe.Slice), make(map[lethe.ShardID]lethe.Timestep)}
	}
	return u.kept[key]
}

// slice returns what a model learns from a timestep.
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

// drop forgets the slices from a timestep on, some of which are replaced.
func (u *unions) drop(m *model, from lethe.Timestep) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.of(m).slices, func(t lethe.Timestep, _ *lethe.Slice) bool { return t >= from })
}

// trim forgets the slices that are older than every model's window. That of this model
// begins with a timestep.
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
