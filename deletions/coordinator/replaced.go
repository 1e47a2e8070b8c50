package coordinator

import (
	"cmp"
	"slices"

	"lethe"
	"lethe/deletions"
)

// Published is what was published last of a timestep, by digest: zero where nothing was, or
// where an earlier version did.
type Published struct {
	Graph, Manifest lethe.Digest
	// Slices are by shard, and nil if the timestep has none.
	Slices []lethe.Digest
}

// slice is the digest of a shard's slice.
func (p Published) slice(shard lethe.ShardID) lethe.Digest {
	if int(shard) >= len(p.Slices) {
		return lethe.Digest{}
	}
	return p.Slices[shard]
}

// planned are the timesteps that plans change, and that were planned before.
func planned(b batch, plans []Plan) (out []lethe.Timestep) {
	for _, e := range b.members {
		out = append(out, e.Progress.Timesteps...)
	}
	for _, plan := range plans {
		for _, step := range plan.Steps {
			out = append(out, step.Timestep)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noteBefore notes what there is of the timesteps and slices that will be replaced. What was
// noted stays: after a crash there may be the new ones already.
func noteBefore(p *deletions.Progress, published map[lethe.Timestep]Published) {
	replaced := slices.Clone(p.Replaced)
	for _, t := range p.Timesteps {
		now := published[t]
		at, known := slices.BinarySearchFunc(replaced, t, func(r deletions.Replacement, t lethe.Timestep) int {
			return cmp.Compare(r.Timestep, t)
		})
		if !known {
			replaced = slices.Insert(replaced, at, deletions.Replacement{
				Timestep: t, Graph: deletions.DigestChange{Before: now.Graph},
				Manifest: deletions.DigestChange{Before: now.Manifest},
			})
		}
		replaced[at].Slices = withSlices(replaced[at].Slices, p.Slices, t, now)
	}
	p.Replaced = replaced
}

// withSlices adds the slices of a timestep that are not there yet.
func withSlices(
	list []deletions.SliceChange, all []deletions.SliceRef, t lethe.Timestep, now Published,
) []deletions.SliceChange {
	out := slices.Clone(list)
	for _, ref := range all {
		known := slices.ContainsFunc(out, func(s deletions.SliceChange) bool { return s.Shard == ref.Shard })
		if ref.Timestep == t && !known {
			change := deletions.DigestChange{Before: now.slice(ref.Shard)}
			out = append(out, deletions.SliceChange{Shard: ref.Shard, DigestChange: change})
		}
	}
	slices.SortFunc(out, func(a, b deletions.SliceChange) int { return cmp.Compare(a.Shard, b.Shard) })
	return out
}

// noteAfter notes what took the place of what was replaced.
func noteAfter(p *deletions.Progress, published map[lethe.Timestep]Published) {
	replaced := slices.Clone(p.Replaced)
	for i := range replaced {
		r := &replaced[i]
		now := published[r.Timestep]
		r.Graph.After, r.Manifest.After = now.Graph, now.Manifest
		r.Slices = slices.Clone(r.Slices)
		for k := range r.Slices {
			r.Slices[k].After = now.slice(r.Slices[k].Shard)
		}
	}
	p.Replaced = replaced
}
