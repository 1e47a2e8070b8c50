package partition

import (
	"context"

	"lethe"
)

const (
	// coarsestPerShard is how many nodes per shard the coarsest level has at
	// least. With 30 the cut of Cora after refinement is .012 higher, since
	// heavier nodes leave less choice.
	coarsestPerShard = 10
	// leastShrink is by how much a level must be smaller than the one below for
	// another to be worth its time.
	leastShrink = 0.05
)

// hierarchy is a graph and its coarser versions: levels[0] is the graph itself,
// and node c of levels[k+1] stands for the nodes i of levels[k] with
// clusters[k][i] = c.
type hierarchy struct {
	g        *Graph
	levels   []*level
	clusters [][]uint32
}

// coarsen clusters and contracts the graph until it is small enough or shrinks
// no more. A graph that is small already has one level. It costs
// O(nodes + edges), since every level has at most 19/20 of the nodes below it,
// and mostly a third.
func coarsen(ctx context.Context, g *Graph, opts Options) (*hierarchy, error) {
	h := &hierarchy{g: g, levels: []*level{finestLevel(g)}}
	if opts.Shards == 1 || opts.NoRefine && g.N() <= plainLimit {
		return h, nil // nobody asks for clusters
	}
	target := coarsestPerShard * opts.Shards
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := h.coarsest()
		if l.n() <= 2*target {
			return h, nil
		}
		draw := lethe.NewDraw(opts.Seed, "multilevel-cluster", uint64(len(h.levels)))
		cluster, count := l.cluster(max(2, g.N()/target), draw)
		if float64(count) > (1-leastShrink)*float64(l.n()) {
			return h, nil
		}
		h.clusters = append(h.clusters, cluster)
		h.levels = append(h.levels, l.contract(cluster, count, g.NumClasses()))
	}
}

func (h *hierarchy) coarsest() *level { return h.levels[len(h.levels)-1] }

// lower gives every node of level k the shard of its cluster in level k+1.
func (h *hierarchy) lower(k int, a Assignment) Assignment {
	out := make(Assignment, len(h.clusters[k]))
	for i, c := range h.clusters[k] {
		out[i] = a[c]
	}
	return out
}

// lift gives every node of the coarsest level the shard that holds most of the
// nodes it stands for, the lowest among equals.
func (h *hierarchy) lift(a Assignment, shards int) Assignment {
	cluster := make([]uint32, len(a))
	for i := range cluster {
		cluster[i] = uint32(i)
		for _, next := range h.clusters {
			cluster[i] = next[cluster[i]]
		}
	}
	members, start := groupBy(cluster, h.coarsest().n())
	out := make(Assignment, h.coarsest().n())
	count := make([]int, shards)
	for c := range out {
		clear(count)
		for _, i := range members[start[c]:start[c+1]] {
			count[a[i]]++
		}
		for s := range count {
			if count[s] > count[out[c]] {
				out[c] = lethe.ShardID(s)
			}
		}
	}
	return out
}
