package group

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
)

// Union returns the slices of one timestep, of ascending shards, as one slice, whose
// shard is the number of the model that learns from it. Nodes ascend, as in every
// slice; edges and stubs are those of the parts, so edges between shards stay cut.
// Its digest is made of those of the parts (canonical.DigestUnion), so that it is known
// to whoever knows theirs.
//
// The error says that the slices are not of one timestep, or of another number of
// features. It is a mistake of the caller that there are none.
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
	at := make([][]uint32, len(parts)) // where every node of a part is in the union
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
	// Those of one owner come from one part, and keep their order.
	slices.SortStableFunc(out.Stubs, func(a, b lethe.Stub) int { return int(a.Owner) - int(b.Owner) })
	return out, nil
}

// join adds the edges and stubs of a part, whose nodes are in the union at these places.
func join(out, part *lethe.Slice, at []uint32) {
	for _, e := range part.Edges {
		a, b := at[e.A], at[e.B]
		out.Edges = append(out.Edges, lethe.Edge{A: min(a, b), B: max(a, b)})
	}
	for _, s := range part.Stubs {
		out.Stubs = append(out.Stubs, lethe.Stub{Owner: at[s.Owner], Lambda: s.Lambda})
	}
}
