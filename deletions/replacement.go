package deletions

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"lethe"
)

// Replacement is a timestep's published artefacts before and after an erasure, by digest. The after is that of the
// batch.
type Replacement struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Graph is of a graph without labels, Manifest of the manifest with the digests of all slices.
	Graph    DigestChange `json:"graph,omitzero"`
	Manifest DigestChange `json:"manifest,omitzero"`
	// Slices ascend by shard.
	Slices []SliceChange `json:"slices,omitempty"`
}

// DigestChange is an artefact before and after, zero for none.
type DigestChange struct {
	Before lethe.Digest `json:"before,omitzero"`
	After  lethe.Digest `json:"after,omitzero"`
}

// SliceChange is a replaced slice.
type SliceChange struct {
	Shard lethe.ShardID `json:"shard"`
	DigestChange
}

// Published are the latest digests of a timestep, zero for none.
type Published struct {
	Graph, Manifest lethe.Digest
	// Slices are by shard; nil without any.
	Slices []lethe.Digest
}

func (p Published) slice(shard lethe.ShardID) lethe.Digest {
	if int(shard) >= len(p.Slices) {
		return lethe.Digest{}
	}
	return p.Slices[shard]
}

// AddTimestep adds a timestep to be rewritten and reports whether it is new. Its revision is 0 until known.
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

// RecordBefore records the artefacts to be replaced. Recorded ones stay: after a crash they may be replaced already.
func (p *Progress) RecordBefore(published map[lethe.Timestep]Published) {
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

// RecordAfter records the artefacts that replaced them.
func (p *Progress) RecordAfter(published map[lethe.Timestep]Published) {
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

// Compare orders by timestep, then shard.
func (s SliceRef) Compare(t SliceRef) int {
	return cmp.Or(cmp.Compare(s.Timestep, t.Timestep), cmp.Compare(s.Shard, t.Shard))
}

// CheckpointDigests are the digests of the checkpoints served before and after an erasure, by component and group,
// the meta-model last. SHA-256 of a concatenated list is the version of that ensemble (scoring.EnsembleVersion). A
// list is empty if nothing was served.
type CheckpointDigests struct {
	Before []lethe.Digest `json:"before,omitempty"`
	After  []lethe.Digest `json:"after,omitempty"`
}

// IsZero reports whether both lists are empty.
func (c CheckpointDigests) IsZero() bool { return len(c.Before)+len(c.After) == 0 }

// Fits reports whether each non-empty list hashes to the version of its ensemble.
func (c CheckpointDigests) Fits(before, after lethe.Digest) bool {
	is := func(list []lethe.Digest, version lethe.Digest) bool {
		h := sha256.New()
		for _, d := range list {
			h.Write(d[:])
		}
		return len(list) == 0 || lethe.Digest(h.Sum(nil)) == version
	}
	return is(c.Before, before) && is(c.After, after)
}
