package deletions

import (
	"cmp"
	"slices"

	"lethe"
	"lethe/deletions/internal/record"
)

// ComponentGroups are the groups of a component that learn from some shards.
type ComponentGroups struct {
	Model string `json:"model"`
	// Groups is the number of groups, each a union of shards with one model.
	Groups int `json:"groups"`
	// Of is the group of each shard.
	Of []int `json:"of"`
}

// RefittedGroups are the retrained groups of a component.
type RefittedGroups struct {
	Model  string `json:"model"`
	Groups int    `json:"groups"`
	// Refitted ascend.
	Refitted []int `json:"refitted"`
}

// Refitted returns the groups of every component that learn from some of the acknowledged shards; none without
// shards.
func (a *Ack) Refitted(shards []lethe.ShardID) []RefittedGroups {
	if len(shards) == 0 {
		return nil
	}
	var out []RefittedGroups
	for _, c := range a.Components {
		r := RefittedGroups{Model: c.Model, Groups: c.Groups}
		for i, shard := range a.Shards {
			if slices.Contains(shards, shard) {
				r.Refitted = append(r.Refitted, c.Of[i])
			}
		}
		slices.Sort(r.Refitted)
		r.Refitted = slices.Compact(r.Refitted)
		out = append(out, r)
	}
	return out
}

func (a *Ack) checkComponents(out *record.Problems) {
	for i, c := range a.Components {
		out.Check(len(c.Of) == len(a.Shards), "component %d has groups of %d shards, %d are named", i, len(c.Of),
			len(a.Shards))
		out.Check(slices.IndexFunc(c.Of, func(g int) bool { return g < 0 || g >= c.Groups }) < 0,
			"component %d names a group that it has not", i)
	}
}

// Valid reports whether the groups exist.
func (r RefittedGroups) Valid() bool {
	return r.Model != "" && record.Ascending(r.Refitted, cmp.Compare) &&
		(len(r.Refitted) == 0 || r.Refitted[0] >= 0 && r.Refitted[len(r.Refitted)-1] < r.Groups)
}
