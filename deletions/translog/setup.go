package translog

import (
	"lethe"
	"lethe/deletions/internal/record"
)

// Setup commits to what models are trained with: configurations, seed, groups, kernel set (ensemble.Setup).
type Setup struct {
	Digest lethe.Digest `json:"digest"`
	// Replaces is the previous digest, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Setup) Kind() Kind { return KindSetup }

func (s Setup) check(p *record.Problems) { p.Check(!s.Digest.IsZero(), "digest is zero") }
