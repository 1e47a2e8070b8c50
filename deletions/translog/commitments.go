package translog

import (
	"lethe"
	"lethe/deletions/internal/record"
)

// Slice commits to what a shard holds of a timestep, when its slice is published.
type Slice struct {
	Timestep lethe.Timestep `json:"timestep"`
	Shard    lethe.ShardID  `json:"shard"`
	Revision lethe.Revision `json:"revision"`
	// Digest is that of the slice's canonical bytes, zero for a slice that is gone
	// because its timestep has become empty.
	Digest lethe.Digest `json:"digest,omitzero"`
	// Replaces is the digest of the last slice of this shard and timestep before, zero for
	// the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Slice) Kind() Kind { return KindSlice }

func (s Slice) check(p *record.Problems) {
	p.Check(s.Timestep >= 0, "timestep is negative")
	p.Check(s.Revision > 0, "revision is 0, at least 1")
	p.Check(!s.Digest.IsZero() || !s.Replaces.IsZero(), "digest and replaces are both zero")
}

// Checkpoint commits to a model as it is after a timestep, when it is published. It is not
// the log's own checkpoint, which is a SignedTree.
type Checkpoint struct {
	// Component is the model's place in the configuration, Group that of its shards in the
	// component. A meta-model has the place behind the last component, and group 0.
	Component int            `json:"component"`
	Group     int            `json:"group"`
	Timestep  lethe.Timestep `json:"timestep"`
	// Lineage is the chain of slice digests that the model was trained on.
	Lineage lethe.Digest `json:"lineage"`
	// Digest is that of the checkpoint's canonical bytes.
	Digest lethe.Digest `json:"digest"`
	// Replaces is the digest of the last checkpoint of this group and timestep before, zero
	// for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Checkpoint) Kind() Kind { return KindCheckpoint }

func (c Checkpoint) check(p *record.Problems) {
	p.Check(min(c.Component, c.Group) >= 0, "component or group is negative")
	p.Check(c.Timestep >= 0, "timestep is negative")
	p.Check(!c.Digest.IsZero(), "digest is zero")
}
