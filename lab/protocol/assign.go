package protocol

import (
	"cmp"
	"context"
	"fmt"

	"lethe"
	"lethe/lab/baselines"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/onehop"
	"lethe/partition/repair"
)

// assign partitions a snapshot. Classes are the labels that training may see;
// hidden ones are a class of their own. embedding is for bekm and may be nil.
func (s Settings) assign(
	ctx context.Context, snap *lethe.Snapshot, classes int, embedding *kmeans.Points,
) (graph.Assignment, Shape, error) {
	of := make([]uint8, len(snap.Nodes))
	unknown := false
	for i, n := range snap.Nodes {
		of[i] = uint8(n.Label)
		unknown = unknown || n.Label == lethe.Unknown
	}
	if unknown {
		classes++
	} else {
		for i := range of {
			of[i]--
		}
	}
	g, err := graph.New(len(snap.Nodes), snap.Undirected(), of, classes)
	if err != nil {
		return nil, Shape{}, fmt.Errorf("timestep %d: %w", snap.Timestep, err)
	}
	config := s.partitionConfig()
	config.Embedding, config.Timestep = embedding, snap.Timestep
	a, report, err := baselines.Run(ctx, g, config)
	if err != nil {
		return nil, Shape{}, fmt.Errorf("timestep %d: %w", snap.Timestep, err)
	}
	scores := report.Scores
	return a, Shape{
		Nodes: scores.Nodes, Edges: scores.Edges, Balance: scores.Balance, Fairness: scores.Fairness,
		EdgeCut: scores.EdgeCut, Sizes: scores.Sizes, ShardsPerErasure: scores.Reach.Stubs,
	}, nil
}

func (s Settings) partitionConfig() baselines.Config {
	p := s.Partition
	if s.Shards == 1 {
		// There is nothing to decide.
		p.Method, p.Refine = partition.MethodRandom, false
	}
	c := baselines.DefaultsOf(p.Method)
	c.Shards, c.Seed, c.Refine = s.Shards, s.Seed, p.Refine
	c.Assign, c.Beta, c.Sweeps = cmp.Or(p.Assign, c.Assign), cmp.Or(p.Beta, c.Beta), cmp.Or(p.Sweeps, c.Sweeps)
	if p.Alpha != 0 {
		c.Config = c.WithAlpha(p.Alpha)
	}
	return c
}

// slices cuts a snapshot into its shards' slices.
func (s Settings) slices(snap *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment) ([]*lethe.Slice, error) {
	if s.Repair != RepairTruth {
		return repair.Slices(snap, previous, a, s.Shards, s.repairConfig())
	}
	return truthSlices(snap, previous, a, s.Shards)
}

func (s Settings) repairConfig() repair.Config {
	return repair.Config{
		Seed: s.Seed, Method: s.Repair, Tau: s.Tau, MinStubs: s.MinStubs,
		OneHop: onehop.ModeOf(s.OneHop, s.OneHopDirected),
	}
}
