package deletions

import (
	"cmp"
	"slices"

	"lethe"
)

// Replacement is what was published of a timestep before and after an erasure, by digest.
// Requests of one batch have the same after.
type Replacement struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Graph and Manifest are of canonical bytes: a graph without labels, and a manifest with
	// the digests of all slices.
	Graph    DigestChange `json:"graph,omitzero"`
	Manifest DigestChange `json:"manifest,omitzero"`
	// Slices ascend by shard.
	Slices []SliceChange `json:"slices,omitempty"`
}

// DigestChange is an artefact before and after, zero where there is none: a timestep that
// was emptied has no successor.
type DigestChange struct {
	Before lethe.Digest `json:"before,omitzero"`
	After  lethe.Digest `json:"after,omitzero"`
}

// SliceChange is a slice that was replaced.
type SliceChange struct {
	Shard lethe.ShardID `json:"shard"`
	DigestChange
}

// Published is what was published last of a timestep, by digest: zero where nothing was.
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

// AddTimestep notes that a timestep is rewritten, and reports whether that is new. It has no revision yet; those of
// the others, if they are known, keep their places.
func (p *Progress) AddTimestep(t lethe.Timestep) (added bool) {
	at, known := slices.BinarySearch(p.Timesteps, t)
	if known {
		return false
	}
	if len(p.Revisions) == len(p.Timesteps) && len(p.Revisions) > 0 {
		p.Revisions = slices.Insert(slices.Clone(p.Revisions), at, 0)
	}
	p.Timesteps = slices.Insert(slices.Clone(p.Timesteps), at, t)
	return true
}

// NoteBefore notes what there is of the timesteps and slices that will be replaced. What was
// noted stays: after a crash there may be the new ones already.
func (p *Progress) NoteBefore(published map[lethe.Timestep]Published) {
	replaced := slices.Clone(p.Replaced)
	for _, t := range p.Timesteps {
		now := published[t]
		at, known := slices.BinarySearchFunc(replaced, t, func(r Replacement, t lethe.Timestep) int {
			return cmp.Compare(r.Timestep, t)
		})
		if !known {
			replaced = slices.Insert(replaced, at, Replacement{
				Timestep: t, Graph: DigestChange{Before: now.Graph},
				Manifest: DigestChange{Before: now.Manifest},
			})
		}
		replaced[at].Slices = withSlices(replaced[at].Slices, p.Slices, t, now)
	}
	p.Replaced = replaced
}

// withSlices adds the slices of a timestep that are not there yet.
func withSlices(
	list []SliceChange, all []SliceRef, t lethe.Timestep, now Published,
) []SliceChange {
	out := slices.Clone(list)
	for _, ref := range all {
		known := slices.ContainsFunc(out, func(s SliceChange) bool { return s.Shard == ref.Shard })
		if ref.Timestep == t && !known {
			change := DigestChange{Before: now.slice(ref.Shard)}
			out = append(out, SliceChange{Shard: ref.Shard, DigestChange: change})
		}
	}
	slices.SortFunc(out, func(a, b SliceChange) int { return cmp.Compare(a.Shard, b.Shard) })
	return out
}

// NoteAfter notes what took the place of what was replaced.
func (p *Progress) NoteAfter(published map[lethe.Timestep]Published) {
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

// SliceRef names a slice.
type SliceRef struct {
	Timestep lethe.Timestep `json:"timestep"`
	Shard    lethe.ShardID  `json:"shard"`
}

// Compare orders slices by timestep, then by shard.
func (s SliceRef) Compare(t SliceRef) int {
	return cmp.Or(cmp.Compare(s.Timestep, t.Timestep), cmp.Compare(s.Shard, t.Shard))
}
