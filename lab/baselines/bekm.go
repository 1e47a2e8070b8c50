package baselines

import (
	"cmp"
	"context"
	"slices"

	"lethe/partition/baselines"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/method"

	"lethe"
)

// defaultBEKMSweeps is the default bound on the rounds of BEKM.
const defaultBEKMSweeps = 20

// BEKM is balanced embedding k-means (Chen et al., "Graph Unlearning", CCS 2022, Algorithm 2):
// pairs of node and centre are processed by ascending distance, and a node joins the centre if
// that has room. It ignores classes.
type BEKM struct {
	// Sweeps bounds the rounds.
	Sweeps int
	// Embedding, if set, is clustered instead of the graph's structure (projectNeighbourhoods), one
	// row per node. In the paper it comes from a model.
	Embedding *kmeans.Points
}

// Even implements method.Method.
func (BEKM) Even() bool { return false }

// Propose implements method.Method.
func (m BEKM) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	g, course := r.Graph(), method.Course{}
	if g.N() == 0 {
		return graph.Assignment{}, course, ctx.Err()
	}
	e := m.Embedding
	if e == nil {
		e = projectNeighbourhoods(g, r.Seed)
	} else if err := fits(e, g.N()); err != nil {
		return nil, course, err
	}
	k := &balancedMeans{
		e: e, shards: r.Shards, limit: eraserCapacity(g.N(), r.Shards),
		centres:  startRows(e, r.Shards, r.Seed),
		distance: make([]float64, g.N()*r.Shards),
		order:    make([]int, g.N()*r.Shards),
	}
	var a graph.Assignment
	for !course.Converged && course.Iterations < m.Sweeps {
		if err := ctx.Err(); err != nil {
			return nil, course, err
		}
		next := k.assign()
		kmeans.MoveCentres(k.centres, e, next)
		course.Iterations++
		course.Converged = slices.Equal(a, next)
		a = next
	}
	return a, course, nil
}

// startRows picks the rows of drawn nodes as centres, all different if there are enough.
func startRows(e *kmeans.Points, shards int, seed uint64) *kmeans.Points {
	order := baselines.Shuffled(e.Rows(), lethe.NewDraw(seed, "bekm-centres"))
	centres := &kmeans.Points{Columns: e.Columns}
	for s := range shards {
		centres.Values = append(centres.Values, e.Row(order[s%len(order)])...)
	}
	return centres
}

// balancedMeans is the state of the k-means iteration.
type balancedMeans struct {
	e, centres    *kmeans.Points
	shards, limit int
	// distance is nodes × shards; order holds its positions, sorted.
	distance []float64
	order    []int
}

// assign processes the pairs by ascending distance; ties go to the lower node, then to the lower
// shard.
func (k *balancedMeans) assign() graph.Assignment {
	kmeans.Distances(k.distance, k.e, k.centres)
	for p := range k.order {
		k.order[p] = p
	}
	slices.SortFunc(k.order, func(p, q int) int {
		return cmp.Or(cmp.Compare(k.distance[p], k.distance[q]), cmp.Compare(p, q))
	})
	a := make(graph.Assignment, k.e.Rows())
	assigned := make([]bool, len(a))
	sizes := make([]int, k.shards)
	for _, p := range k.order {
		i, s := p/k.shards, p%k.shards
		if !assigned[i] && sizes[s] < k.limit {
			assigned[i], a[i] = true, lethe.ShardID(s)
			sizes[s]++
		}
	}
	return a
}
