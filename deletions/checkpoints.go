package deletions

import (
	"crypto/sha256"

	"lethe"
)

// CheckpointDigests are the digests of the checkpoints that were served before an erasure and
// after it: component by component and group by group, the meta-model's last. SHA-256 of each
// list, concatenated, is the version of that ensemble (scoring.EnsembleVersion). A list is empty
// if nothing was served.
type CheckpointDigests struct {
	Before []lethe.Digest `json:"before,omitempty"`
	After  []lethe.Digest `json:"after,omitempty"`
}

// IsZero reports whether nothing is known.
func (c CheckpointDigests) IsZero() bool { return len(c.Before)+len(c.After) == 0 }

// Fits reports whether the lists that are known are those of two ensembles.
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
