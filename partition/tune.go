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
	// Loss is the cut fraction plus the distances of balance and fairness from 0, their best value.
	// Under quotas only the cut varies.
	Loss float64 `json:"loss"`
}

// Tune runs GPFB with the configuration's own weights and with those that the paper searches, α
// of 0.0001, 0.001 and 0.01 and for gpfb-sr β of 1 to 5. It returns all trials, and the
// configuration with the pair of least Loss; in a tie its own weights win, then the first of the
// grid. The error wraps ErrMethod for methods without weights.
func Tune(ctx context.Context, g *graph.Graph, c Config) (Config, []Trial, error) {
	c = c.forGraph(g)
	if !c.gpfb() {
		return c, nil, fmt.Errorf("tune: %w with weights: %q, choose %s or %s", ErrMethod, c.Method, MethodGPFBFast,
			MethodGPFBSR)
	}
	trials := tuningGrid(c)
	best := 0
	for k := range trials {
		t := &trials[k]
		c.Alpha, c.Beta = t.Alpha, t.Beta
		_, report, err := Run(ctx, g, c)
		if err != nil {
			return c, nil, fmt.Errorf("tune: alpha %v, beta %v: %w", t.Alpha, t.Beta, err)
		}
		s := report.Scores
		t.Loss = s.EdgeCut - s.Balance - s.Fairness
		if t.Loss < trials[best].Loss {
			best = k
		}
	}
	c.Alpha, c.Beta = trials[best].Alpha, trials[best].Beta
	return c, trials, nil
}

// tuningGrid lists the configuration's own weights and the paper's.
func tuningGrid(c Config) []Trial {
	betas := []float64{c.Beta}
	if c.Method == MethodGPFBSR {
		betas = []float64{1, 2, 3, 4, 5}
	}
	trials := []Trial{{Alpha: c.Alpha, Beta: c.Beta}}
	for _, alpha := range []float64{1e-4, 1e-3, 1e-2} {
		for _, beta := range betas {
			if alpha != c.Alpha || beta != c.Beta {
				trials = append(trials, Trial{Alpha: alpha, Beta: beta})
			}
		}
	}
	return trials
}
