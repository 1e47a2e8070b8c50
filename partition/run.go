package partition

import (
	"context"
	"errors"
	"fmt"

	"lethe/partition/coarsen"
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/method"
	"lethe/partition/refine"
	"lethe/partition/scores"
)

// Report describes a partition run.
type Report struct {
	Method string `json:"method"`
	method.Course
	// ProposedCut is the number of cut edges before refinement, Swaps the number of moves and swaps
	// made by refinement on all levels.
	ProposedCut int `json:"proposed_cut"`
	Swaps       int `json:"swaps"`
	// Scores are the scores of the returned assignment.
	Scores scores.Scores `json:"scores"`
}

// Run assigns every node of the graph to a shard. Shard sizes differ by at most one, and so do
// the counts of every class per shard, unless the configuration has Slack, or uses independent,
// or Other, which is for comparison. The result is a pure function of its
// arguments. Run stops between two sweeps when ctx is done.
func Run(ctx context.Context, g *graph.Graph, c Config) (graph.Assignment, Report, error) {
	if err := errors.Join(c.Validate(), c.fit(g)); err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	m, err := c.method()
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	report := Report{Method: c.Method}
	c.Refine = c.Refine && m.Even() // swaps would preserve the imbalance
	h, err := c.hierarchy(ctx, g)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: coarsening: %w", err)
	}
	var a graph.Assignment
	a, report.Course, err = m.Propose(ctx, method.Request{Hierarchy: h, Shards: c.Shards, Seed: c.Seed})
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition by %s: %w", c.Method, err)
	}
	report.ProposedCut = g.CutEdges(a)
	if c.Refine {
		how := refine.Config{Shards: c.Shards, Seed: c.Seed, Sweeps: c.RefineSweeps.For(g.N()), Slack: c.Slack}
		report.Swaps, err = refine.Refine(ctx, h, a, how)
		if err != nil {
			return nil, Report{}, fmt.Errorf("partition: refinement: %w", err)
		}
	}
	turn(a, c)
	report.Scores, err = scores.Of(g, a, c.Shards)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	return a, report, nil
}

// hierarchy coarsens the graph if refinement or the method needs it.
func (c Config) hierarchy(ctx context.Context, g *graph.Graph) (*coarsen.Hierarchy, error) {
	embedsClusters := c.Other == nil && c.Method == MethodGPFBFast && g.N() > gpfb.GraphLimit
	if c.Shards == 1 || !c.Refine && !embedsClusters {
		return coarsen.Flat(g), nil
	}
	return coarsen.New(ctx, g, c.Shards, c.Seed)
}
