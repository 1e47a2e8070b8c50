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
// one, and so do the counts of every class per shard, unless the options ask for
// Slack, or name blpa, bekm or AssignPlain, which are there for comparison. The
// result is a pure function of its arguments. Run stops between two sweeps when
// ctx is done.
func Run(ctx context.Context, g *graph.Graph, opts Options) (graph.Assignment, Report, error) {
	opts = opts.EnsureDefaults(g)
	if err := errors.Join(opts.Validate(), opts.fit(g)); err != nil {
		return nil, Report{}, fmt.Errorf("partition options: %w", err)
	}
	m, err := opts.method()
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	report := Report{Method: opts.Method}
	if opts.gpfb() {
		report.Alpha = opts.Alpha
	}
	if opts.Method == MethodGPFBSR {
		report.Beta = opts.Beta
	}
	opts.NoRefine = opts.NoRefine || !m.Even() // exchanges would keep what is uneven
	h, err := opts.hierarchy(ctx, g)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: coarsening: %w", err)
	}
	var a graph.Assignment
	a, report.Course, err = m.Propose(ctx, method.Request{Hierarchy: h, Shards: opts.Shards, Seed: opts.Seed})
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition by %s: %w", opts.Method, err)
	}
	report.ProposedCut = g.CutEdges(a)
	if !opts.NoRefine {
		c := refine.Config{Shards: opts.Shards, Seed: opts.Seed, Sweeps: opts.RefineSweeps, Slack: opts.Slack}
		report.Swaps, err = refine.Refine(ctx, h, a, c)
		if err != nil {
			return nil, Report{}, fmt.Errorf("partition: refinement: %w", err)
		}
	}
	report.Scores, err = scores.Of(g, a, opts.Shards)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	return a, report, nil
}

// hierarchy coarsens the graph if refinement or the method makes use of it.
func (o Options) hierarchy(ctx context.Context, g *graph.Graph) (*coarsen.Hierarchy, error) {
	embedsClusters := o.Method == MethodGPFBFast && g.N() > gpfb.PlainLimit
	if o.Shards == 1 || o.NoRefine && !embedsClusters {
		return coarsen.Flat(g), nil
	}
	return coarsen.New(ctx, g, o.Shards, o.Seed)
}
