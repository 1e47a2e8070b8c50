package deletions

import (
	"crypto/sha256"

	"lethe"
)

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
