package group

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
)

// Union merges the slices of one timestep, of ascending shards, into one slice, whose shard is
// the number of the model that learns from it. Nodes ascend, as in every slice; edges and stubs
// are those of the parts, so edges between shards stay cut. Its digest is computed from those of
// the parts (canonical.DigestUnion), without the slices.
//
// It returns an error if the slices differ in timestep or number of features. An empty list is a
// programming error.
func Union(model lethe.ShardID, parts []*lethe.Slice) (*lethe.Slice, error) {
	first := parts[0]
	out := &lethe.Slice{
		Timestep: first.Timestep, Previous: first.Previous, Shard: model, FeatureCount: first.FeatureCount,
	}
	type place struct{ part, node int }
	var places []place
	for i, p := range parts {
		switch {
		case p.Timestep != first.Timestep || p.Previous != first.Previous:
			return nil, fmt.Errorf("slices of timesteps %d after %d and %d after %d have no union", first.Timestep,
				first.Previous, p.Timestep, p.Previous)
		case p.FeatureCount != first.FeatureCount:
			return nil, fmt.Errorf("timestep %d: slices of %d and %d features have no union", p.Timestep,
				first.FeatureCount, p.FeatureCount)
		}
		out.Parts = append(out.Parts, canonical.DigestSlice(p))
		for node := range p.Nodes {
			places = append(places, place{i, node})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return parts[a.part].Nodes[a.node].Compare(parts[b.part].Nodes[b.node])
	})
	at := make([][]uint32, len(parts)) // position in the union of every node of a part
	for i, p := range parts {
		at[i] = make([]uint32, len(p.Nodes))
	}
	out.Features = make([]float32, 0, len(places)*first.FeatureCount)
	for i, from := range places {
		p := parts[from.part]
		at[from.part][from.node] = uint32(i)
		out.Nodes, out.Labels = append(out.Nodes, p.Nodes[from.node]), append(out.Labels, p.Labels[from.node])
		out.Features = append(out.Features, p.Row(from.node)...)
	}
	for i, p := range parts {
		join(out, p, at[i])
	}
	slices.SortFunc(out.Edges, lethe.Edge.Compare)
	// Stubs of one owner are from one part and keep their order.
	slices.SortStableFunc(out.Stubs, func(a, b lethe.Stub) int { return int(a.Owner) - int(b.Owner) })
	return out, nil
}

// join adds the edges and stubs of a part; at holds the positions of its nodes in the union.
func join(out, part *lethe.Slice, at []uint32) {
	for _, e := range part.Edges {
		a, b := at[e.A], at[e.B]
		out.Edges = append(out.Edges, lethe.Edge{A: min(a, b), B: max(a, b)})
	}
	for _, s := range part.Stubs {
		out.Stubs = append(out.Stubs, lethe.Stub{Owner: at[s.Owner], Lambda: s.Lambda})
	}
}
