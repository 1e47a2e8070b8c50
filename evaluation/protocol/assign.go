package protocol

import (
	"context"
	"fmt"

	"lethe"
	"lethe/partition"
)

// assign partitions a snapshot. Classes are the labels that training may see;
// hidden ones are a class of their own.
func (s Settings) assign(ctx context.Context, snap *lethe.Snapshot, classes int) (partition.Assignment, Shape, error) {
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
	g, err := partition.NewGraph(len(snap.Nodes), snap.Undirected(), of, classes)
	if err != nil {
		return nil, Shape{}, fmt.Errorf("timestep %d: %w", snap.Timestep, err)
	}
	a, report, err := partition.Run(ctx, g, s.partitionOptions())
	if err != nil {
		return nil, Shape{}, fmt.Errorf("timestep %d: %w", snap.Timestep, err)
	}
	scores := report.Scores
	return a, Shape{
		Nodes: scores.Nodes, Edges: scores.Edges, Balance: scores.Balance, Fairness: scores.Fairness,
		EdgeCut: scores.EdgeCut, Sizes: scores.Sizes, ShardsPerErasure: shardsPerErasure(g, a),
	}, nil
}

func (s Settings) partitionOptions() partition.Options {
	p := s.Partition
	opts := partition.Options{
		Shards: s.Shards, Method: p.Method, Seed: s.Seed,
		Alpha: p.Alpha, Sweeps: p.Sweeps, NoRefine: !p.Refine,
	}
	if s.Shards == 1 {
		// There is nothing to decide.
		opts.Method, opts.NoRefine = partition.MethodRandom, true
	}
	return opts
}

// shardsPerErasure is the mean over the nodes of how many shards hold the node
// or a stub for it.
func shardsPerErasure(g *partition.Graph, a partition.Assignment) float64 {
	if g.N() == 0 {
		return 0
	}
	total := 0
	touched := make(map[lethe.ShardID]bool)
	for i := range g.N() {
		clear(touched)
		touched[a[i]] = true
		for _, j := range g.Neighbors(i) {
			touched[a[j]] = true
		}
		total += len(touched)
	}
	return float64(total) / float64(g.N())
}

// slices cuts a snapshot into its shards' slices.
func (s Settings) slices(snap *lethe.Snapshot, previous lethe.Timestep, a partition.Assignment) ([]*lethe.Slice, error) {
	out, err := partition.Slices(snap, previous, a, s.Shards, s.repairOptions())
	if err != nil || s.Repair != RepairTruth {
		return out, err
	}
	for shard := range out {
		addTruth(out[shard], snap, a)
	}
	return out, nil
}

// repairOptions leave the stubs out where the true neighbours take their place.
func (s Settings) repairOptions() partition.RepairOptions {
	if s.Repair == RepairTruth {
		return partition.RepairOptions{Seed: s.Seed, Method: partition.RepairNone}
	}
	return partition.RepairOptions{Seed: s.Seed, Method: s.Repair, Tau: s.Tau, MinStubs: s.MinStubs}
}
