package partition

import (
	"context"
	"fmt"
)

// Report says what a partition did.
type Report struct {
	Method string `json:"method"`
	// Objective is Tr(Hᵀ A H) + 2α Tr(Hᵀ F M̃) before the first power iteration
	// and after each; it never falls. Empty for methods that do not iterate.
	Objective []float64 `json:"objective,omitempty"`
	// Iterations counts the power iterations; Converged says that the tolerance
	// ended them, not the bound on sweeps.
	Iterations int  `json:"iterations"`
	Converged  bool `json:"converged"`
	// ProposedCut counts the cut edges before refinement, Swaps the exchanges
	// that refinement made on its way.
	ProposedCut int `json:"proposed_cut"`
	Swaps       int `json:"swaps"`
	// Scores are those of the assignment returned.
	Scores Scores `json:"scores"`
}

// method proposes an assignment that fills the quotas exactly, and may note in
// the report how it got there.
type method interface {
	propose(ctx context.Context, g *Graph, q *quotas, opts Options, report *Report) (Assignment, error)
}

// methodNamed returns the method of a name.
func methodNamed(name string) (method, error) {
	switch name {
	case MethodGPFBFast:
		return gpfbFast{}, nil
	case MethodRandom:
		return randomMethod{}, nil
	case "gpfb-sr", "blpa", "bekm":
		return nil, fmt.Errorf("%w: %s is not built yet, choose %s or %s", ErrMethod, name, MethodGPFBFast, MethodRandom)
	default:
		return nil, fmt.Errorf("%w: %q, choose %s or %s", ErrMethod, name, MethodGPFBFast, MethodRandom)
	}
}

// Run assigns every node of the graph to a shard. Shard sizes differ by at most
// one, and so do the counts of every class per shard. The result is a pure
// function of its arguments. Run stops between two sweeps when ctx is done.
func Run(ctx context.Context, g *Graph, opts Options) (Assignment, Report, error) {
	opts = opts.EnsureDefaults(g)
	if err := opts.Validate(); err != nil {
		return nil, Report{}, fmt.Errorf("partition options: %w", err)
	}
	m, err := methodNamed(opts.Method)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	report := Report{Method: opts.Method}
	a, err := m.propose(ctx, g, newQuotas(g, opts.Shards), opts, &report)
	if err != nil {
		return nil, Report{}, fmt.Errorf("partition by %s: %w", opts.Method, err)
	}
	report.ProposedCut = cutEdges(g, a)
	if !opts.NoRefine {
		report.Swaps, err = refine(ctx, g, a, opts)
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
