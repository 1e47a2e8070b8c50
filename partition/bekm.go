package partition

import (
	"cmp"
	"context"
	"slices"

	"lethe"
)

// bekm is balanced embedding k-means (Chen et al., "Graph Unlearning", CCS 2022,
// Algorithm 2): pairs of node and centre are taken by ascending distance, and a
// node joins the centre if that has room. It knows no classes. The embedding is
// an argument, since it comes from a model in the paper.
type bekm struct{}

func (bekm) even(Options) bool { return false }
func (bekm) sweeps() int       { return 20 }

func (bekm) propose(ctx context.Context, g *Graph, _ *quotas, opts Options, report *Report) (Assignment, error) {
	if g.N() == 0 {
		return Assignment{}, ctx.Err()
	}
	e := opts.Embedding
	if e == nil {
		e = projectNeighbourhoods(g, opts.Seed)
	}
	k := &balancedMeans{
		e: e, shards: opts.Shards, limit: eraserCapacity(g.N(), opts.Shards),
		centres:  startRows(e, opts.Shards, opts.Seed),
		distance: make([]float64, g.N()*opts.Shards),
		order:    make([]int, g.N()*opts.Shards),
	}
	var a Assignment
	for !report.Converged && report.Iterations < opts.Sweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := k.assign()
		moveCentres(k.centres, e, next)
		report.Iterations++
		report.Converged = slices.Equal(a, next)
		a = next
	}
	return a, nil
}

// startRows picks the rows of drawn nodes as centres, of different ones as far
// as there are enough.
func startRows(e *Embedding, shards int, seed uint64) *Embedding {
	order := shuffled(e.rows(), lethe.NewDraw(seed, "bekm-centres"))
	centres := &Embedding{Columns: e.Columns}
	for s := range shards {
		centres.Values = append(centres.Values, e.row(order[s%len(order)])...)
	}
	return centres
}

// balancedMeans is the state of the k-means iteration.
type balancedMeans struct {
	e, centres    *Embedding
	shards, limit int
	// distance is nodes × shards, order sorts its positions.
	distance []float64
	order    []int
}

// assign goes through the pairs by ascending distance; among equals the lower
// node, then the lower shard comes first.
func (k *balancedMeans) assign() Assignment {
	distances(k.distance, k.e, k.centres)
	for p := range k.order {
		k.order[p] = p
	}
	slices.SortFunc(k.order, func(p, q int) int {
		return cmp.Or(cmp.Compare(k.distance[p], k.distance[q]), cmp.Compare(p, q))
	})
	a := make(Assignment, k.e.rows())
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
