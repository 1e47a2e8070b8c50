package partition

import (
	"context"
	"fmt"

	"lethe/partition/graph"
)

// Trial is one pair of weights that Tune tried.
type Trial struct {
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta,omitempty"`
	// Loss is the cut fraction plus the distances of balance and fairness from 0,
	// their best. Under quotas only the cut can differ.
	Loss float64 `json:"loss"`
}

// Tune runs GPFB with the weights that the paper searches, α of 0.0001, 0.001 and
// 0.01 and for gpfb-sr β of 1 to 5, and with those of the options. It returns the
// options with the pair of least Loss, the options' own and then the first of the
// grid among equals, and all trials. The error wraps ErrMethod for methods
// without weights.
func Tune(ctx context.Context, g *graph.Graph, opts Options) (Options, []Trial, error) {
	opts = opts.EnsureDefaults(g)
	if !opts.gpfb() {
		return opts, nil, fmt.Errorf("tune: %w with weights: %q, choose %s or %s", ErrMethod, opts.Method, MethodGPFBFast, MethodGPFBSR)
	}
	trials := tuningGrid(opts)
	best := 0
	for k := range trials {
		t := &trials[k]
		opts.Alpha, opts.Beta = t.Alpha, t.Beta
		_, report, err := Run(ctx, g, opts)
		if err != nil {
			return opts, nil, fmt.Errorf("tune: alpha %v, beta %v: %w", t.Alpha, t.Beta, err)
		}
		s := report.Scores
		t.Loss = s.EdgeCut - s.Balance - s.Fairness
		if t.Loss < trials[best].Loss {
			best = k
		}
	}
	opts.Alpha, opts.Beta = trials[best].Alpha, trials[best].Beta
	return opts, trials, nil
}

// tuningGrid lists the options' own weights and the paper's.
func tuningGrid(opts Options) []Trial {
	betas := []float64{opts.Beta}
	if opts.Method == MethodGPFBSR {
		betas = []float64{1, 2, 3, 4, 5}
	}
	trials := []Trial{{Alpha: opts.Alpha, Beta: opts.Beta}}
	for _, alpha := range []float64{1e-4, 1e-3, 1e-2} {
		for _, beta := range betas {
			if alpha != opts.Alpha || beta != opts.Beta {
				trials = append(trials, Trial{Alpha: alpha, Beta: beta})
			}
		}
	}
	return trials
}
