package coarsen

import (
	"context"

	"lethe"
	"lethe/partition/graph"
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

// Hierarchy is a graph and its coarser versions: Levels[0] is the graph itself,
// and node c of Levels[k+1] stands for the nodes i of Levels[k] with
// clusters[k][i] = c.
type Hierarchy struct {
	Graph    *graph.Graph
	Levels   []*Level
	clusters [][]uint32
}

// Flat returns the hierarchy of the graph alone.
func Flat(g *graph.Graph) *Hierarchy { return &Hierarchy{Graph: g, Levels: []*Level{Finest(g)}} }

// New clusters and contracts the graph until it is small enough or shrinks
// no more. A graph that is small already has one level. It costs
// O(nodes + edges), since every level has at most 19/20 of the nodes below it,
// and mostly a third.
func New(ctx context.Context, g *graph.Graph, shards int, seed uint64) (*Hierarchy, error) {
	h := Flat(g)
	target := coarsestPerShard * shards
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := h.Coarsest()
		if l.N() <= 2*target {
			return h, nil
		}
		draw := lethe.NewDraw(seed, "multilevel-cluster", uint64(len(h.Levels)))
		cluster, count := l.Cluster(max(2, g.N()/target), draw)
		if float64(count) > (1-leastShrink)*float64(l.N()) {
			return h, nil
		}
		h.Contract(cluster, count)
	}
}

// Contract adds a level whose node c stands for the nodes i of the coarsest level
// with cluster[i] = c. Clusters are numbered from 0 without gaps.
func (h *Hierarchy) Contract(cluster []uint32, clusters int) {
	h.Levels = append(h.Levels, h.Coarsest().Contract(cluster, clusters, h.Graph.NumClasses()))
	h.clusters = append(h.clusters, cluster)
}

// Coarsest returns the level with the fewest nodes.
func (h *Hierarchy) Coarsest() *Level { return h.Levels[len(h.Levels)-1] }

// Lower gives every node of level k the shard of its cluster in level k+1.
func (h *Hierarchy) Lower(k int, a graph.Assignment) graph.Assignment {
	out := make(graph.Assignment, len(h.clusters[k]))
	for i, c := range h.clusters[k] {
		out[i] = a[c]
	}
	return out
}

// Lift gives every node of the coarsest level the shard that holds most of the
// nodes it stands for, the lowest among equals.
func (h *Hierarchy) Lift(a graph.Assignment, shards int) graph.Assignment {
	cluster := make([]uint32, len(a))
	for i := range cluster {
		cluster[i] = uint32(i)
		for _, next := range h.clusters {
			cluster[i] = next[cluster[i]]
		}
	}
	members, start := groupBy(cluster, h.Coarsest().N())
	out := make(graph.Assignment, h.Coarsest().N())
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
