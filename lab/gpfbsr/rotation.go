package gpfbsr

import (
	"context"
	"fmt"
	"math"

	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/method"
	"lethe/partition/vectors"
)

// rotation is the state of GPFB-SR: H, R and Y, on a graph without isolated
// nodes.
type rotation struct {
	op        *operator
	indicator *indicator
	h, p, hr  []float64   // nodes × shards
	r         []float64   // shards × shards
	tall      *gpfb.Polar // for H
	square    *gpfb.Polar // for R
}

// warmSweeps is the number of iterations of H before Y exists: enough for the coarsest structure
// to appear.
const warmSweeps = 10

// newRotation starts from a few power iterations without Y, and from the even shards that k-means
// under quotas finds in them. A random Y at the start would tie H to noise.
func newRotation(ctx context.Context, g *graph.Graph, q *graph.Quotas, r method.Request, c Config) (*rotation, error) {
	warm := c
	warm.Sweeps = warmSweeps
	h, err := warm.embed(ctx, newOperator(g, r.Shards, warm), r.Seed, &method.Course{})
	if err != nil {
		return nil, err
	}
	y, err := gpfb.FillQuotas(ctx, g, h, q, kmeans.StartCentres(h, r.Shards, r.Seed, 0))
	if err != nil {
		return nil, err
	}
	return newRotationState(g, h.Values, y, r.Shards, c), nil
}

// newRotationState creates the state from an embedding and an assignment, and takes ownership of
// both. R is not set yet.
func newRotationState(g *graph.Graph, h []float64, y graph.Assignment, v int, c Config) *rotation {
	n := g.N()
	s := &rotation{
		op: newOperator(g, v, c), indicator: newIndicator(g, y, v),
		h: h, p: make([]float64, n*v), hr: make([]float64, n*v), r: make([]float64, v*v),
		tall: gpfb.NewPolar(n, v), square: gpfb.NewPolar(v, v),
	}
	s.op.coupling = &coupling{weight: make([]float64, n), y: y, rotation: s.r}
	return s
}

// ascend sweeps until the objective rises by less than the tolerance allows or the sweeps are
// used up. It records the iterations in course.
func (s *rotation) ascend(ctx context.Context, c Config, course *method.Course) error {
	if err := s.rotate(c.Beta); err != nil {
		return fmt.Errorf("rotation: %w", err)
	}
	course.Objective = append(course.Objective, s.op.Apply(s.p, s.h))
	for course.Iterations < c.Sweeps && !course.Converged {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.tall.Of(s.h, s.p); err != nil {
			return fmt.Errorf("sweep %d: embedding: %w", course.Iterations, err)
		}
		s.assign()
		if err := s.rotate(c.Beta); err != nil {
			return fmt.Errorf("sweep %d: rotation: %w", course.Iterations, err)
		}
		course.Add(s.op.Apply(s.p, s.h), c.Tolerance*s.op.edge*float64(s.op.columns))
	}
	return nil
}

// rotate sets R to the polar factor of Hᵀ G and updates the linear term of H, which is β G Rᵀ.
func (s *rotation) rotate(beta float64) error {
	v := len(s.indicator.a)
	volumes := make([]float64, v)
	for i, j := range s.indicator.y {
		volumes[j] += s.indicator.degree[i]
	}
	product := make([]float64, v*v)
	for i, j := range s.indicator.y {
		g := 1 / math.Sqrt(s.indicator.degree[i]*volumes[j])
		s.op.coupling.weight[i] = beta * g
		for k, x := range s.h[i*v : (i+1)*v] {
			product[k*v+int(j)] += float64(x * g)
		}
	}
	return s.square.Of(s.r, product)
}

// assign updates Y for the current H and R.
func (s *rotation) assign() {
	s.project()
	for range indicatorPasses {
		if s.indicator.pass(nil) == 0 {
			return
		}
	}
}

// project passes HR to Y.
func (s *rotation) project() {
	v := len(s.indicator.a)
	clear(s.hr)
	for i := range s.indicator.y {
		vectors.MultiplyRow(s.hr[i*v:(i+1)*v], s.h[i*v:(i+1)*v], s.r)
	}
	s.indicator.set(s.hr)
}

// round fills the quotas by k-means that starts from the means of the shards.
func (s *rotation) round(ctx context.Context, g *graph.Graph, q *graph.Quotas) (graph.Assignment, error) {
	e := &kmeans.Points{Columns: q.Shards(), Values: s.h}
	centres := &kmeans.Points{Columns: q.Shards(), Values: make([]float64, q.Shards()*q.Shards())}
	kmeans.MoveCentres(centres, e, s.indicator.y)
	return gpfb.FillQuotas(ctx, g, e, q, centres)
}
