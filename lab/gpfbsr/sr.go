package gpfbsr

import (
	"context"
	"fmt"

	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/method"
)

// SR is GPFB-SR (Wang, Huai and Wang 2023, Algorithm 2), which learns the embedding H, a rotation R and the
// assignment Y together. Each sweep is one step of block ascent on
//
//	Tr(Hᵀ A H) + 2α Tr(Hᵀ F M̃) + 2β Tr((HR)ᵀ G),  G = D^-1/2 Y (Yᵀ D Y)^-1/2:
//
// R becomes the polar factor of Hᵀ G, H that of A H + α F M̃ + β G Rᵀ, and Y is updated by coordinate ascent.
// Algorithm 2 omits Rᵀ in the second step and mixes HR with D^-1/2 H R in the third, which does not ascend any
// objective.
type SR struct{ Config }

// indicatorPasses bounds the passes over the nodes per sweep; it converges after two or three.
const indicatorPasses = 10

// Even implements method.Method.
func (m SR) Even() bool { return !m.Plain }

// Propose implements method.Method.
func (m SR) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	g := r.Graph()
	inner := g.WithoutIsolated()
	if gpfb.NothingToEmbed(inner, r) {
		return deal(ctx, r, m.Plain)
	}
	m.Alpha = m.AlphaFor(g)
	var course method.Course
	q := graph.NewQuotas(g, r.Shards)
	s, err := newRotation(ctx, inner.Graph, q, r, m.Config)
	if err != nil {
		return nil, course, fmt.Errorf("start: %w", err)
	}
	if err := s.ascend(ctx, m.Config, &course); err != nil {
		return nil, course, err
	}
	a := s.indicator.y
	if !m.Plain {
		if a, err = s.round(ctx, inner.Graph, q); err != nil {
			return nil, course, fmt.Errorf("rounding: %w", err)
		}
	}
	return inner.Complete(g, a, q), course, nil
}
