package ensemble

import (
	"lethe"
	"lethe/trainer"
)

// Lineages computes which lineage the checkpoint of every shard must have after a
// timestep, from the digests of the slices, which may come in any order and be
// replaced. It must not be used from two goroutines.
type Lineages struct {
	config trainer.Config
	shards int
	// slices and previous are what was learnt, by timestep.
	slices   map[lethe.Timestep][]lethe.Digest
	previous map[lethe.Timestep]lethe.Timestep
	// memo holds computed lineages, by timestep.
	memo map[lethe.Timestep][]lethe.Digest
}

// NewLineages knows no slice yet.
func NewLineages(config trainer.Config, shards int) *Lineages {
	return &Lineages{
		config:   config,
		shards:   shards,
		slices:   make(map[lethe.Timestep][]lethe.Digest),
		previous: make(map[lethe.Timestep]lethe.Timestep),
		memo:     make(map[lethe.Timestep][]lethe.Digest),
	}
}

// Learn takes the digests of a timestep's slices, by shard, and the timestep that
// is before it in every column (NoTimestep if none), in place of what was known.
func (l *Lineages) Learn(t, previous lethe.Timestep, slices []lethe.Digest) {
	l.slices[t], l.previous[t] = slices, previous
	l.changed(t)
}

// Forget takes back what was learnt of a timestep: it is gone. Those behind it are
// unknown until they are learnt anew.
func (l *Lineages) Forget(t lethe.Timestep) {
	delete(l.slices, t)
	delete(l.previous, t)
	l.changed(t)
}

// changed drops what was computed for the timesteps from t on: no other can depend
// on it.
func (l *Lineages) changed(t lethe.Timestep) {
	for at := range l.memo {
		if at >= t {
			delete(l.memo, at)
		}
	}
}

// At returns one lineage per shard after timestep t, or false while the digests of
// a timestep up to t are missing.
func (l *Lineages) At(t lethe.Timestep) ([]lethe.Digest, bool) {
	var chain []lethe.Timestep // from the first timestep without a memo to t
	var base []lethe.Digest
	for at := t; at != lethe.NoTimestep; at = l.previous[at] {
		if base = l.memo[at]; base != nil {
			break
		}
		if _, known := l.slices[at]; !known {
			return nil, false
		}
		chain = append(chain, at)
	}
	if base == nil {
		base = make([]lethe.Digest, l.shards)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		next := make([]lethe.Digest, l.shards)
		window := l.window(chain[i])
		digests := make([]lethe.Digest, len(window))
		for shard := range next {
			for j, at := range window {
				digests[j] = l.slices[at][shard]
			}
			next[shard] = l.config.LineageOf(base[shard], digests)
		}
		l.memo[chain[i]], base = next, next
	}
	return base, true
}

// window returns the timesteps whose slices train the checkpoint after t,
// ascending.
func (l *Lineages) window(t lethe.Timestep) []lethe.Timestep {
	var out []lethe.Timestep
	for at := t; at != lethe.NoTimestep && len(out) < l.config.WindowTimesteps; at = l.previous[at] {
		out = append([]lethe.Timestep{at}, out...)
	}
	return out
}
