package gpfbsr

import (
	"context"
	"fmt"

	"lethe"
	"lethe/partition/baselines"
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/method"
)

// Fast is GPFB-Fast with the paper's end or base.
type Fast struct{ Config }

// Even implements method.Method.
func (f Fast) Even() bool { return !f.Plain }

// Propose implements method.Method.
func (f Fast) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	g := r.Graph()
	inner := g.WithoutIsolated()
	if gpfb.NothingToEmbed(inner, r) {
		return deal(ctx, r, f.Plain)
	}
	f.Alpha = f.AlphaFor(g)
	var course method.Course
	h, err := f.embed(ctx, newOperator(inner.Graph, r.Shards, f.Config), r.Seed, &course)
	if err != nil {
		return nil, course, fmt.Errorf("embedding: %w", err)
	}
	q := graph.NewQuotas(g, r.Shards)
	var a graph.Assignment
	if f.Plain {
		a, err = cluster(ctx, h, r.Shards, r.Seed)
	} else {
		a, err = gpfb.FillQuotas(ctx, inner.Graph, h, q, kmeans.StartCentres(h, r.Shards, r.Seed, 0))
	}
	if err != nil {
		return nil, course, fmt.Errorf("rounding: %w", err)
	}
	return inner.Complete(g, a, q), course, nil
}

// embed is gpfb.Embed with a tolerance in contributions of an edge.
func (c Config) embed(ctx context.Context, op *operator, seed uint64, course *method.Course) (*kmeans.Points, error) {
	c.Tolerance *= op.edge
	return gpfb.Embed(ctx, op, seed, c.Config, course)
}

// deal is the partition where there is nothing to embed.
func deal(ctx context.Context, r method.Request, plain bool) (graph.Assignment, method.Course, error) {
	if plain {
		return Dealt{}.Propose(ctx, r)
	}
	return baselines.Random{}.Propose(ctx, r)
}

// Dealt distributes nodes over shards at random, regardless of classes: only the sizes are even.
type Dealt struct{}

// Even implements method.Method.
func (Dealt) Even() bool { return false }

// Propose implements method.Method.
func (Dealt) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	a := make(graph.Assignment, r.Graph().N())
	for at, i := range baselines.Shuffled(len(a), lethe.NewDraw(r.Seed, "partition-deal")) {
		a[i] = lethe.ShardID(at % r.Shards)
	}
	return a, method.Course{}, ctx.Err()
}
