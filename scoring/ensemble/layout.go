package ensemble

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/check"
	"lethe/trainer"
	"lethe/trainer/group"
)

// Component is one kind of model of an ensemble: every group of shards has one.
type Component struct {
	Config trainer.Config
	// Groups is the number of groups that the shards are divided into, from 1 to the number of
	// shards (package group).
	Groups int
}

// Layout defines the models of an ensemble. They are numbered component after component and, within
// one, group after group; checkpoints and records of models carry this number as their shard. With
// one component of as many groups as shards the number of a model is that of its shard.
type Layout struct {
	Shards     int
	Components []Component
}

// PerShard is the layout of one model per shard.
func PerShard(config trainer.Config, shards int) Layout {
	return Layout{Shards: shards, Components: []Component{{Config: config, Groups: shards}}}
}

// Validate reports all problems of the layout at once.
func (l Layout) Validate() error {
	var p check.Problems
	p.AtLeast("shards", l.Shards, 1)
	p.That(len(l.Components) > 0, "components", len(l.Components), "at least 1")
	for _, c := range l.Components {
		p.Whole("groups of "+c.Config.Model, c.Groups, 1, max(l.Shards, 1))
		p.Within(c.Config.Model, c.Config.Validate())
	}
	return p.Err()
}

// Models is the number of models.
func (l Layout) Models() int {
	n := 0
	for _, c := range l.Components {
		n += c.Groups
	}
	return n
}

// Place returns the component of a model, and its group there. It panics if there is
// no such model.
func (l Layout) Place(model lethe.ShardID) (component, in int) {
	in = int(model)
	for component, c := range l.Components {
		if in < c.Groups {
			return component, in
		}
		in -= c.Groups
	}
	panic(fmt.Sprintf("ensemble: no model %d among %d", model, l.Models()))
}

// Config returns the configuration that a model is trained with.
func (l Layout) Config(model lethe.ShardID) trainer.Config {
	component, _ := l.Place(model)
	return l.Components[component].Config
}

// ShardsOf returns the shards that a model learns from, ascending.
func (l Layout) ShardsOf(model lethe.ShardID) []lethe.ShardID {
	component, in := l.Place(model)
	return group.Shards(in, l.Components[component].Groups, l.Shards)
}

// ModelsOf returns the models that learn from a shard, ascending: one per component.
func (l Layout) ModelsOf(shard lethe.ShardID) []lethe.ShardID {
	var out []lethe.ShardID
	first := 0
	for _, c := range l.Components {
		out = append(out, lethe.ShardID(first+group.Of(shard, c.Groups, l.Shards)))
		first += c.Groups
	}
	return out
}

// Affected returns the models that learn from any of some shards, ascending.
func (l Layout) Affected(shards []lethe.ShardID) []lethe.ShardID {
	var out []lethe.ShardID
	for _, shard := range shards {
		out = append(out, l.ModelsOf(shard)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Slice returns the training slice of a model, from the slices of its shards, ascending: their union, or the slice of
// the shard that has its number.
func (l Layout) Slice(model lethe.ShardID, parts []*lethe.Slice) (*lethe.Slice, error) {
	if len(parts) == 1 && parts[0].Shard == model {
		return parts[0], nil
	}
	return group.Union(model, parts)
}

// Digest returns the digest of the result of Slice, from those of the slices of all shards.
func (l Layout) Digest(model lethe.ShardID, slices []lethe.Digest) lethe.Digest {
	shards := l.ShardsOf(model)
	if len(shards) == 1 && shards[0] == model {
		return slices[model]
	}
	parts := make([]lethe.Digest, len(shards))
	for i, shard := range shards {
		parts[i] = slices[shard]
	}
	return canonical.DigestUnion(parts)
}
