package gpfb

import (
	"context"
	"fmt"

	"lethe/partition/kmeans"
	"lethe/partition/method"
)

// matrix is A and B of GPFB on the nodes of a graph, or on its clusters. Arguments are n × v,
// row-major, and must not overlap.
type matrix interface {
	shape() (n, v int)
	// purpose is the key of the start's draws.
	purpose() string
	// apply writes P = A H + B to p and returns the objective of H,
	// Tr(Hᵀ A H) + 2 Tr(Hᵀ B).
	apply(p, h []float64) float64
	// smooth writes a step from h to dst that amplifies what neighbours have in common.
	smooth(dst, h []float64)
	// edge is the size of an edge's contribution to the objective.
	edge() float64
}

// embed returns the embedding of the rows in v dimensions. It needs n >= v. It iterates P = A H +
// B, H <- polar factor of P, until the objective rises by less than the tolerance allows or the
// sweeps are used up. Because A is positive semidefinite the objective never falls (Nie, Zhang
// and Li, "A generalized power iteration method for solving quadratic problem on the Stiefel
// manifold", 2017). It records the iterations in course.
func embed(ctx context.Context, m matrix, seed uint64, c Config, course *method.Course) (*kmeans.Points, error) {
	e, err := startEmbedding(m, seed, c.Plain)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	n, v := m.shape()
	h, p := e.Values, make([]float64, n*v)
	factor := newPolar(n, v)
	course.Objective = append(course.Objective, m.apply(p, h))
	for course.Iterations < c.Sweeps && !course.Converged {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := factor.of(h, p); err != nil {
			return nil, fmt.Errorf("power iteration %d: %w", course.Iterations, err)
		}
		note(course, m.apply(p, h), c.Tolerance*m.edge()*float64(v))
	}
	return e, nil
}

// note records a sweep's objective, and whether it rose by no more than enough, which ends the
// iteration.
func note(course *method.Course, objective, enough float64) {
	rise := objective - course.Objective[len(course.Objective)-1]
	course.Objective = append(course.Objective, objective)
	course.Iterations++
	course.Converged = rise <= enough
}
