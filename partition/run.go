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

// Report says what a partition did.
type Report struct {
	Method string `json:"method"`
	// Alpha and Beta are those of GPFB that were used.
	Alpha float64 `json:"alpha,omitempty"`
	Beta  float64 `json:"beta,omitempty"`
	method.Course
	// ProposedCut counts the cut edges before refinement, Swaps the moves and
	// exchanges that refinement made on its way, on all levels.
	ProposedCut int `json:"proposed_cut"`
	Swaps       int `json:"swaps"`
	// Scores are those of the assignment returned.
	Scores scores.Scores `json:"scores"`
}

// Run assigns every node of the graph to a shard. Shard sizes differ by at most
// one, and so do the counts of every class per shard, unless the configuration asks for
// Slack, or names independent, or blpa, bekm or AssignPlain, which are there for comparison. The
// result is a pure function of its arguments. Run stops between two sweeps when
// ctx is done.
func Run(ctx context.Context, g *graph.Graph, c Config) (graph.Assignment, Report, error) {
	if err := errors.Join(c.Validate(), c.fit(g)); err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	c = c.forGraph(g)
	m, err := c.method()
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	report := Report{Method: c.Method}
	if c.gpfb() {
		report.Alpha = c.Alpha
	}
	if c.Method == MethodGPFBSR {
		report.Beta = c.Beta
	}
	c.Refine = c.Refine && m.Even() // exchanges would keep what is uneven
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

// hierarchy coarsens the graph if refinement or the method makes use of it.
func (c Config) hierarchy(ctx context.Context, g *graph.Graph) (*coarsen.Hierarchy, error) {
	embedsClusters := c.Method == MethodGPFBFast && g.N() > gpfb.PlainLimit
	if c.Shards == 1 || !c.Refine && !embedsClusters {
		return coarsen.Flat(g), nil
	}
	return coarsen.New(ctx, g, c.Shards, c.Seed)
}
