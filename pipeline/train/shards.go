package train

import (
	"maps"
	"slices"
	"sync"

	"lethe"
)

// shards are a model's columns, ascending.
type shards []*column

// newest returns the newest timestep with a slice, or NoTimestep.
func (s shards) newest() lethe.Timestep {
	newest := lethe.NoTimestep
	for _, c := range s {
		newest = max(newest, c.newest())
	}
	return newest
}

// upTo returns the newest timestep up to t with a slice, or NoTimestep.
func (s shards) upTo(t lethe.Timestep) lethe.Timestep {
	newest := lethe.NoTimestep
	for _, c := range s {
		end, found := slices.BinarySearch(c.timesteps, t)
		if found {
			end++
		}
		if end > 0 {
			newest = max(newest, c.timesteps[end-1])
		}
	}
	return newest
}

// after returns the first timestep after t if all its slices agree, or NoTimestep.
func (s shards) after(t lethe.Timestep) lethe.Timestep {
	at, found := slices.BinarySearch(s[0].timesteps, t)
	if found {
		at++
	}
	if at == len(s[0].timesteps) || !s.agree(s[0].timesteps[at]) {
		return lethe.NoTimestep
	}
	return s[0].timesteps[at]
}

// agree reports whether all slices of t are there and name the same timestep before.
func (s shards) agree(t lethe.Timestep) bool {
	for _, c := range s {
		if link, found := c.links[t]; !found || link.previous != s[0].links[t].previous {
			return false
		}
	}
	return true
}

// previous returns the timestep before.
func (s shards) previous(t lethe.Timestep) lethe.Timestep { return s[0].links[t].previous }

// complete reports whether the slices of the last n timesteps up to t are there without a gap.
func (s shards) complete(t lethe.Timestep, n int) bool {
	for range n {
		if !s.agree(t) {
			return false
		}
		if t = s.previous(t); t == lethe.NoTimestep {
			return true
		}
	}
	return true
}

// window returns the last n linked timesteps up to t, ascending, without those that no later slice links to.
func (s shards) window(t lethe.Timestep, n int) (out []lethe.Timestep) {
	for range n {
		if _, here := s[0].links[t]; !here {
			break
		}
		out = append(out, t)
		t = s.previous(t)
	}
	slices.Reverse(out)
	return out
}

// lack reports whether a timestep is gone: no slice of it, and the next one names an earlier one, or, without a next
// one, its slices were removed.
func (s shards) lack(t lethe.Timestep) bool {
	removed := false
	for _, c := range s {
		removed = removed || c.gone[t]
		if _, here := c.links[t]; here {
			return false
		}
	}
	if next := s.after(t); next != lethe.NoTimestep {
		return s.previous(next) < t
	}
	return removed && s.newest() < t
}

// revision returns the newest revision of a timestep's slices.
func (s shards) revision(t lethe.Timestep) (r lethe.Revision) {
	for _, c := range s {
		r = max(r, c.links[t].revision)
	}
	return r
}

// milestone reports whether a checkpoint is kept for good.
func (s shards) milestone(t lethe.Timestep) bool { return Milestone(s[0].timesteps, t) }

// unions caches decoded and merged slices for models of the same shards. It is safe for concurrent use.
type unions struct {
	mu   sync.Mutex
	kept map[unionOf]*unionColumn
	// whole: checkpoints describe their slices, so that all of these are needed.
	whole bool
}

// unionOf identifies consecutive shards. itself: the model uses its only shard's slice unchanged, whose digest differs
// from that of a union of one.
type unionOf struct {
	first, last  lethe.ShardID
	itself, rows bool
}

type unionColumn struct {
	slices map[lethe.Timestep]*lethe.Slice
	// begins are the window begins of each model.
	begins map[lethe.ShardID]lethe.Timestep
}

func newUnions(whole bool) *unions {
	return &unions{kept: make(map[unionOf]*unionColumn), whole: whole}
}

// of returns the column of a model's shards. u.mu is held.
func (u *unions) of(m *model) *unionColumn {
	key := unionOf{first: m.shards[0].shard, last: m.shards[len(m.shards)-1].shard, rows: m.config.LooksAtRows()}
	key.itself = len(m.shards) == 1 && key.first == m.number
	if u.kept[key] == nil {
		u.kept[key] = &unionColumn{make(map[lethe.Timestep]*lethe.Slice), make(map[lethe.ShardID]lethe.Timestep)}
	}
	return u.kept[key]
}

// slice returns a model's training slice of a timestep.
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
		if !u.whole {
			kept = m.config.Needed(kept)
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
