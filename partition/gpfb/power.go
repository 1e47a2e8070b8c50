package gpfb

import (
	"context"
	"fmt"

	"lethe/partition/kmeans"
	"lethe/partition/method"
)

// Matrix is A and B of GPFB on the nodes of a graph, or on its clusters. Arguments are n × v,
// row-major, and must not overlap.
type Matrix interface {
	Shape() (n, v int)
	// Purpose is the key of the start's draws.
	Purpose() string
	// Apply writes P = A H + B to p and returns the objective of H,
	// Tr(Hᵀ A H) + 2 Tr(Hᵀ B).
	Apply(p, h []float64) float64
	// Smooth writes a step from h to dst that amplifies what neighbours have in common.
	Smooth(dst, h []float64)
}

// Embed returns the embedding of the rows in v dimensions. It needs n >= v. It iterates P = A H +
// B, H <- polar factor of P, until the objective rises by less than the tolerance allows or the
// sweeps are used up. Because A is positive semidefinite the objective never falls (Nie, Zhang
// and Li, "A generalized power iteration method for solving quadratic problem on the Stiefel
// manifold", 2017). It records the iterations in course.
func Embed(ctx context.Context, m Matrix, seed uint64, c Config, course *method.Course) (*kmeans.Points, error) {
	e, err := startEmbedding(m, seed)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	n, v := m.Shape()
	h, p := e.Values, make([]float64, n*v)
	factor := NewPolar(n, v)
	course.Objective = append(course.Objective, m.Apply(p, h))
	for course.Iterations < c.Sweeps && !course.Converged {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := factor.Of(h, p); err != nil {
			return nil, fmt.Errorf("power iteration %d: %w", course.Iterations, err)
		}
		course.Add(m.Apply(p, h), c.Tolerance*float64(v))
	}
	return e, nil
}
