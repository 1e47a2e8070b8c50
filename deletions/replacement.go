package deletions

import "lethe"

// Replacement is what was published of a timestep before and after an erasure, by digest.
// Requests of one batch have the same after.
type Replacement struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Graph and Manifest are of canonical bytes: a graph without labels, and a manifest with
	// the digests of all slices. What earlier versions published has no digest.
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
