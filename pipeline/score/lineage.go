package score

import (
	"lethe"
	"lethe/trainer"
)

// lineages computes, from the manifests, which lineage the checkpoint of every
// shard must have after a timestep.
type lineages struct {
	options trainer.Options
	shards  int
	// slices and previous are what the manifests say, by timestep.
	slices   map[lethe.Timestep][]lethe.Digest
	previous map[lethe.Timestep]lethe.Timestep
	// memo holds computed lineages, by timestep; a manifest that arrives or
	// changes empties it.
	memo map[lethe.Timestep][]lethe.Digest
}

func newLineages(options trainer.Options, shards int) *lineages {
	return &lineages{
		options:  options.EnsureDefaults(),
		shards:   shards,
		slices:   make(map[lethe.Timestep][]lethe.Digest),
		previous: make(map[lethe.Timestep]lethe.Timestep),
		memo:     make(map[lethe.Timestep][]lethe.Digest),
	}
}

// learn takes what a manifest says. Only timesteps from t on can depend on it.
func (l *lineages) learn(t, previous lethe.Timestep, slices []lethe.Digest) {
	l.slices[t], l.previous[t] = slices, previous
	for at := range l.memo {
		if at >= t {
			delete(l.memo, at)
		}
	}
}

// at returns one lineage per shard after timestep t, or false while a manifest
// up to t is missing.
func (l *lineages) at(t lethe.Timestep) ([]lethe.Digest, bool) {
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
			next[shard] = l.options.LineageOf(base[shard], digests)
		}
		l.memo[chain[i]], base = next, next
	}
	return base, true
}

// window returns the timesteps whose slices train the checkpoint after t,
// ascending.
func (l *lineages) window(t lethe.Timestep) []lethe.Timestep {
	var out []lethe.Timestep
	for at := t; at != lethe.NoTimestep && len(out) < l.options.WindowTimesteps; at = l.previous[at] {
		out = append([]lethe.Timestep{at}, out...)
	}
	return out
}
