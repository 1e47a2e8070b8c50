package main

import (
	"context"
	"fmt"

	"lethe/lab/baselines"
	"lethe/partition/graph"
)

// tune runs GPFB with the configuration's own weights and with those that the paper searches, α
// of 0.0001, 0.001 and 0.01 and for gpfb-sr β of 1 to 5, and returns the configuration with the pair
// of least loss: the cut fraction plus the distances of balance and fairness from 0, their best value.
// In a tie its own weights win, then the first of the grid.
func tune(ctx context.Context, g *graph.Graph, c baselines.Config) (baselines.Config, error) {
	_, own, err := baselines.Run(ctx, g, c)
	if err != nil {
		return c, err
	}
	c.Config = c.WithAlpha(own.Alpha)
	best, least := c, loss(own)
	betas := []float64{c.Beta}
	if c.Method == baselines.MethodGPFBSR {
		betas = []float64{1, 2, 3, 4, 5}
	}
	for _, alpha := range []float64{1e-4, 1e-3, 1e-2} {
		for _, beta := range betas {
			c.Alpha, c.Beta = alpha, beta
			_, report, err := baselines.Run(ctx, g, c)
			if err != nil {
				return c, fmt.Errorf("tune: alpha %v, beta %v: %w", alpha, beta, err)
			}
			if now := loss(report); now < least {
				best, least = c, now
			}
		}
	}
	return best, nil
}

// loss is what tune minimises. Under quotas only the cut varies.
func loss(r baselines.Report) float64 { return r.Scores.EdgeCut - r.Scores.Balance - r.Scores.Fairness }
