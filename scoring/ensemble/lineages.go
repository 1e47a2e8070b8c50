package ensemble

import (
	"slices"

	"lethe"
	"lethe/scoring/meta"
)

// Lineages computes the lineage that every model of an ensemble must have after a timestep, from
// the digests of the slices, which may arrive in any order and be replaced. It is not safe for
// concurrent use.
type Lineages struct {
	layout Layout
	// meta is nil for ensembles without a meta-model.
	meta *meta.Config
	// slices and previous are the known digests and predecessors, by timestep.
	slices   map[lethe.Timestep][]lethe.Digest
	previous map[lethe.Timestep]lethe.Timestep
	// memo caches computed lineages, by timestep.
	memo map[lethe.Timestep][]lethe.Digest
}

// NewLineages returns Lineages without slices. meta is nil for ensembles without a meta-model.
func NewLineages(layout Layout, meta *meta.Config) *Lineages {
	return &Lineages{
		layout:   layout,
		meta:     meta,
		slices:   make(map[lethe.Timestep][]lethe.Digest),
		previous: make(map[lethe.Timestep]lethe.Timestep),
		memo:     make(map[lethe.Timestep][]lethe.Digest),
	}
}

// Learn sets the digests of a timestep's slices, by shard, and the timestep before it in every
// column (NoTimestep if none). It replaces earlier values.
func (l *Lineages) Learn(t, previous lethe.Timestep, slices []lethe.Digest) {
	l.slices[t], l.previous[t] = slices, previous
	l.changed(t)
}

// Forget removes a timestep that no longer exists. Later timesteps are unknown until they are set
// again.
func (l *Lineages) Forget(t lethe.Timestep) {
	delete(l.slices, t)
	delete(l.previous, t)
	l.changed(t)
}

// changed drops the cache for the timesteps from t on: earlier ones do not depend on it.
func (l *Lineages) changed(t lethe.Timestep) {
	for at := range l.memo {
		if at >= t {
			delete(l.memo, at)
		}
	}
}

// At returns the lineages after timestep t, one per model, followed by that of the meta-model if
// there is one. It returns false while the digests of a timestep up to t are missing.
func (l *Lineages) At(t lethe.Timestep) ([]lethe.Digest, bool) {
	models, known := l.models(t)
	if !known || l.meta == nil {
		return models, known
	}
	var window [][]lethe.Digest
	for _, at := range l.window(t, l.meta.Timesteps) {
		window = append(window, l.slices[at])
	}
	return append(slices.Clip(models), meta.Lineage(*l.meta, models, window)), true
}

// models returns the lineages of the models.
func (l *Lineages) models(t lethe.Timestep) ([]lethe.Digest, bool) {
	var chain []lethe.Timestep // from the first timestep that is not cached to t
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
		base = make([]lethe.Digest, l.layout.Models())
	}
	for _, at := range slices.Backward(chain) {
		l.memo[at] = l.next(base, at)
		base = l.memo[at]
	}
	return base, true
}

// next returns the lineages after a timestep, from the previous ones.
func (l *Lineages) next(before []lethe.Digest, t lethe.Timestep) []lethe.Digest {
	out := make([]lethe.Digest, len(before))
	first := 0
	for _, c := range l.layout.Components {
		window := l.window(t, c.Config.WindowTimesteps)
		digests := make([]lethe.Digest, len(window))
		for model := first; model < first+c.Groups; model++ {
			for i, at := range window {
				digests[i] = l.layout.Digest(lethe.ShardID(model), l.slices[at])
			}
			out[model] = c.Config.LineageOf(before[model], digests)
		}
		first += c.Groups
	}
	return out
}

// window returns the last n timesteps up to t, ascending.
func (l *Lineages) window(t lethe.Timestep, n int) []lethe.Timestep {
	var out []lethe.Timestep
	for at := t; at != lethe.NoTimestep && len(out) < n; at = l.previous[at] {
		out = append(out, at)
	}
	slices.Reverse(out)
	return out
}
