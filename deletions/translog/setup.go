package translog

import (
	"lethe"
	"lethe/deletions/internal/record"
)

// Setup commits to what the models are trained with from here on: configuration of every
// component, seed, groups, kernel set (ensemble.Setup).
type Setup struct {
	Digest lethe.Digest `json:"digest"`
	// Replaces is the digest of the setup before, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Setup) Kind() Kind { return KindSetup }

func (s Setup) check(p *record.Problems) { p.Check(!s.Digest.IsZero(), "digest is zero") }
