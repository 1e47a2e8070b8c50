// Package method says what a partition method is asked and what it answers.
package method

import (
	"context"

	"lethe/partition/coarsen"
	"lethe/partition/graph"
)

// Method proposes shards for the nodes of a graph.
type Method interface {
	// Even reports whether proposals meet the quotas. Only those are refined,
	// since refinement keeps whatever balance it finds.
	Even() bool
	// Propose answers a request. It is a pure function of it, and returns ctx's
	// error soon after ctx is done.
	Propose(ctx context.Context, r Request) (graph.Assignment, Course, error)
}

// Request is what a method is asked for: shards 0..Shards-1 for the nodes of
// Hierarchy.Graph.
type Request struct {
	// Hierarchy has coarser versions of the graph where those were asked for, for
	// methods that can do with clusters.
	Hierarchy *coarsen.Hierarchy
	Shards    int
	// Seed keys every random draw.
	Seed uint64
}

// Graph returns the graph to partition.
func (r Request) Graph() *graph.Graph { return r.Hierarchy.Graph }

// Course says how a method came to its proposal.
type Course struct {
	// Objective is what GPFB maximises, before the first sweep and after each; it
	// never falls. Empty for the other methods.
	Objective []float64 `json:"objective,omitempty"`
	// Iterations counts the sweeps of methods that iterate; Converged says that
	// they ended by themselves, not by the bound on sweeps.
	Iterations int  `json:"iterations"`
	Converged  bool `json:"converged"`
}
