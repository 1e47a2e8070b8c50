package partition

import (
	"context"
	"fmt"
)

// gpfbSR is GPFB-SR (Wang, Huai and Wang 2023, Algorithm 2), which learns the
// embedding H, a rotation R and the assignment Y together. Each sweep is one step
// of block ascent on
//
//	Tr(Hᵀ A H) + 2α Tr(Hᵀ F M̃) + 2β Tr((HR)ᵀ G),  G = D^-1/2 Y (Yᵀ D Y)^-1/2:
//
// R becomes the polar factor of Hᵀ G, H that of A H + α F M̃ + β G Rᵀ, and Y
// follows by coordinate ascent. Algorithm 2 leaves Rᵀ out of the second and mixes
// HR with D^-1/2 H R in the third, which ascends nothing.
type gpfbSR struct{}

// indicatorPasses bounds the passes over the nodes per sweep; two or three settle
// it.
const indicatorPasses = 10

func (gpfbSR) even(opts Options) bool { return opts.Assign == AssignQuotas }
func (gpfbSR) sweeps() int            { return gpfbSweeps }

func (gpfbSR) propose(ctx context.Context, g *Graph, q *quotas, opts Options, report *Report) (Assignment, error) {
	c := withoutIsolated(g)
	if opts.Shards == 1 || c.graph.N() <= opts.Shards {
		return randomMethod{}.propose(ctx, g, q, opts, report)
	}
	r, err := newRotation(ctx, c.graph, q, opts)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if err := r.ascend(ctx, opts, report); err != nil {
		return nil, err
	}
	a := r.indicator.y
	if opts.Assign == AssignQuotas {
		if a, err = r.round(ctx, c.graph, q); err != nil {
			return nil, fmt.Errorf("rounding: %w", err)
		}
	}
	return c.complete(g, a, q), nil
}
