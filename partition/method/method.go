// Package method defines the interface of partition methods.
package method

import (
	"context"

	"lethe/partition/coarsen"
	"lethe/partition/graph"
)

// Method proposes shards for the nodes of a graph.
type Method interface {
	// Even reports whether proposals meet the quotas. Only those are refined, because refinement
	// preserves the balance it starts from.
	Even() bool
	// Propose returns an assignment for the request. It is a pure function of the request, and
	// returns ctx's error soon after ctx is done.
	Propose(ctx context.Context, r Request) (graph.Assignment, Course, error)
}

// Request asks for shards 0..Shards-1 for the nodes of Hierarchy.Graph.
type Request struct {
	// Hierarchy includes coarser versions of the graph if requested, for methods that can work on
	// clusters.
	Hierarchy *coarsen.Hierarchy
	Shards    int
	// Seed keys every random draw.
	Seed uint64
}

// Graph returns the graph to partition.
func (r Request) Graph() *graph.Graph { return r.Hierarchy.Graph }

// Course describes the iterations of a method.
type Course struct {
	// Objective is the objective of GPFB, before the first sweep and after each; it never falls. It
	// is empty for other methods.
	Objective []float64 `json:"objective,omitempty"`
	// Iterations counts the sweeps of iterative methods; Converged means that they stopped before
	// the bound on sweeps.
	Iterations int  `json:"iterations"`
	Converged  bool `json:"converged"`
}

// Add records a sweep's objective, and whether it rose by no more than enough, which ends the
// iteration.
func (c *Course) Add(objective, enough float64) {
	rise := objective - c.Objective[len(c.Objective)-1]
	c.Objective = append(c.Objective, objective)
	c.Iterations++
	c.Converged = rise <= enough
}
