package translog

import (
	"lethe"
	"lethe/deletions/internal/record"
)

// Slice commits to a published slice.
type Slice struct {
	Timestep lethe.Timestep `json:"timestep"`
	Shard    lethe.ShardID  `json:"shard"`
	Revision lethe.Revision `json:"revision"`
	// Digest is that of the canonical bytes, zero if the timestep became empty.
	Digest lethe.Digest `json:"digest,omitzero"`
	// Replaces is the previous digest of this shard and timestep, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Slice) Kind() Kind { return KindSlice }

func (s Slice) check(p *record.Problems) {
	p.Check(s.Timestep >= 0, "timestep is negative")
	p.Check(s.Revision > 0, "revision is 0, at least 1")
	p.Check(!s.Digest.IsZero() || !s.Replaces.IsZero(), "digest and replaces are both zero")
}

// Checkpoint commits to a published model. The log's own checkpoints are SignedTrees.
type Checkpoint struct {
	// Component is the model's index in the configuration, Group that in the component. The meta-model comes last, with
	// group 0.
	Component int            `json:"component"`
	Group     int            `json:"group"`
	Timestep  lethe.Timestep `json:"timestep"`
	// Lineage is the chain of slice digests trained on.
	Lineage lethe.Digest `json:"lineage"`
	Digest  lethe.Digest `json:"digest"`
	// Replaces is the previous digest of this group and timestep, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Checkpoint) Kind() Kind { return KindCheckpoint }

func (c Checkpoint) check(p *record.Problems) {
	p.Check(min(c.Component, c.Group) >= 0, "component or group is negative")
	p.Check(c.Timestep >= 0, "timestep is negative")
	p.Check(!c.Digest.IsZero(), "digest is zero")
}

// Setup commits to what models are trained with: configurations, seed, groups, kernel set (ensemble.Setup).
type Setup struct {
	Digest lethe.Digest `json:"digest"`
	// Replaces is the previous digest, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Setup) Kind() Kind { return KindSetup }

func (s Setup) check(p *record.Problems) { p.Check(!s.Digest.IsZero(), "digest is zero") }
