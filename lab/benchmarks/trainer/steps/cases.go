package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lethe"
	"lethe/lab/networks"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// contender does the steps of one case.
type contender interface {
	// advance does some steps as a worker and returns how many.
	advance(worker int) (int, error)
}

// newContender prepares elliptic:<width>, cora:<model> or products:<width>.
func newContender(name string, workers int, k kernels.Set) (contender, error) {
	family, rest, ok := strings.Cut(name, ":")
	if !ok {
		return nil, fmt.Errorf("want family:variant")
	}
	switch family {
	case "elliptic", "products":
		width, err := strconv.Atoi(rest)
		if err != nil {
			return nil, err
		}
		if family == "products" {
			return newProducts(width, workers, k), nil
		}
		c := trainer.Defaults()
		c.LinearSkip, c.Hidden = false, width
		return newRunner(c, shape{
			nodes: 208, stubs: 92, features: 165, edges: 240, classes: 2, density: 1,
		}, workers, k)
	case "cora":
		c := networks.Defaults(rest)
		c.Classes, c.Schedule, c.WindowTimesteps, c.Passes = 7, trainer.Window, 1, 200
		return newRunner(c, shape{nodes: 108, stubs: 60, features: 1433, edges: 100, classes: 7, density: 0.013}, workers, k)
	default:
		return nil, fmt.Errorf("family %q is not one of elliptic, cora, products", family)
	}
}

// runner trains the shards of one case.
type runner struct {
	engine *trainer.Engine
	// previous and windows hold a checkpoint and what comes after it for every
	// worker's shard.
	previous []*trainer.Checkpoint
	windows  [][]*lethe.Slice
}

// shape says what a shard's slice looks like.
type shape struct {
	nodes, stubs, features, edges, classes int
	// density is the share of features that are not 0.
	density float64
}

func newRunner(c trainer.Config, s shape, workers int, k kernels.Set) (*runner, error) {
	engine, err := trainer.NewEngine(c, k)
	if err != nil {
		return nil, err
	}
	r := &runner{engine: engine}
	continual := engine.Config().Schedule == trainer.Continual
	for w := range workers {
		var window []*lethe.Slice
		for t := range engine.Config().WindowTimesteps {
			window = append(window, s.slice(lethe.ShardID(w), lethe.Timestep(t+1)))
		}
		var before *trainer.Checkpoint
		if continual {
			if before, _, err = engine.Train(context.Background(), lethe.ShardID(w), nil, window[:1]); err != nil {
				return nil, err
			}
		}
		r.previous, r.windows = append(r.previous, before), append(r.windows, window)
	}
	return r, nil
}

// advance trains the worker's shard on its window.
func (r *runner) advance(worker int) (int, error) {
	_, report, err := r.engine.Train(context.Background(), lethe.ShardID(worker), r.previous[worker], r.windows[worker])
	return report.Steps, err
}

// slice returns a slice of random features, labels, edges and stubs.
func (s shape) slice(shard lethe.ShardID, t lethe.Timestep) *lethe.Slice {
	d := lethe.NewDraw(1, "benchmark slice", uint64(shard), uint64(t))
	out := &lethe.Slice{
		Shard: shard, Timestep: t, Previous: t - 1, FeatureCount: s.features,
		Features: make([]float32, s.nodes*s.features),
	}
	for i := range out.Features {
		if d.Float64() < s.density {
			out.Features[i] = d.Float32()
		}
	}
	for i := range s.nodes {
		out.Nodes = append(out.Nodes, lethe.Pseudonym{byte(t), byte(i >> 8), byte(i)})
		out.Labels = append(out.Labels, lethe.Label(1+d.IntN(s.classes)))
	}
	seen := make(map[lethe.Edge]bool)
	for len(out.Edges) < s.edges {
		a, b := uint32(d.IntN(s.nodes)), uint32(d.IntN(s.nodes))
		if e := (lethe.Edge{A: min(a, b), B: max(a, b)}); a != b && !seen[e] {
			seen[e] = true
			out.Edges = append(out.Edges, e)
		}
	}
	for range s.stubs {
		out.Stubs = append(out.Stubs, lethe.Stub{Owner: uint32(d.IntN(s.nodes)), Lambda: d.Float32()})
	}
	return out
}
