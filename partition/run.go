package partition

import (
	"context"
	"errors"
	"fmt"
)

// Report says what a partition did.
type Report struct {
	Method string `json:"method"`
	// Alpha and Beta are those of GPFB that were used.
	Alpha float64 `json:"alpha,omitempty"`
	Beta  float64 `json:"beta,omitempty"`
	// Objective is what GPFB maximises, before the first sweep and after each; it
	// never falls. Empty for the other methods.
	Objective []float64 `json:"objective,omitempty"`
	// Iterations counts the sweeps of methods that iterate; Converged says that
	// they ended by themselves, not by the bound on sweeps.
	Iterations int  `json:"iterations"`
	Converged  bool `json:"converged"`
	// ProposedCut counts the cut edges before refinement, Swaps the moves and
	// exchanges that refinement made on its way, on all levels.
	ProposedCut int `json:"proposed_cut"`
	Swaps       int `json:"swaps"`
	// Scores are those of the assignment returned.
	Scores Scores `json:"scores"`
}

// note records a sweep's objective and whether it ends the iteration.
func (r *Report) note(objective float64, op *operator, opts Options) {
	rise := objective - r.Objective[len(r.Objective)-1]
	r.Objective = append(r.Objective, objective)
	r.Iterations++
	r.Converged = rise <= opts.Tolerance*op.scale*float64(op.columns)
}

// Run assigns every node of the graph to a shard. Shard sizes differ by at most
// one, and so do the counts of every class per shard, unless the options ask for
// Slack, or name blpa, bekm or AssignPlain, which are there for comparison. The
// result is a pure function of its arguments. Run stops between two sweeps when
// ctx is done.
func Run(ctx context.Context, g *Graph, opts Options) (Assignment, Report, error) {
	opts = opts.EnsureDefaults(g)
	if err := errors.Join(opts.Validate(), opts.fit(g)); err != nil {
		return nil, Report{}, fmt.Errorf("partition options: %w", err)
	}
	m, err := methodNamed(opts.Method)
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
	opts.NoRefine = opts.NoRefine || !m.even(opts) // exchanges would keep what is uneven
	h, err := coarsen(ctx, g, opts)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: coarsening: %w", err)
	}
	propose := m.propose
	if m.even(opts) && h.embedsClusters(opts) {
		propose = h.proposeByClusters
	}
	a, err := propose(ctx, g, newQuotas(g, opts.Shards), opts, &report)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition by %s: %w", opts.Method, err)
	}
	report.ProposedCut = cutEdges(g, a)
	if !opts.NoRefine {
		report.Swaps, err = h.improve(ctx, a, opts)
		if err != nil {
			return nil, Report{}, fmt.Errorf("partition: refinement: %w", err)
		}
	}
	report.Scores, err = Score(g, a, opts.Shards)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	return a, report, nil
}
