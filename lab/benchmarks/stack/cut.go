package main

import (
	"context"
	"fmt"
	"os"

	"lethe"
	"lethe/dataset"
	"lethe/lab/baselines"
	"lethe/lab/protocol"
	"lethe/partition/graph"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/trainer"
	"lethe/trainer/group"
)

// view is a timestep with its rows as some components see them.
type view struct {
	graph  trainer.Input
	slices []*lethe.Slice
	// unions are the slices of groups, by the number of groups, once asked for.
	unions map[int][]*lethe.Slice
}

// step is one timestep, cut into shards.
type step struct {
	timestep lethe.Timestep
	nodes    []lethe.TransactionID
	labels   []lethe.Label
	// owners are the shards that hold the nodes.
	owners graph.Assignment
	// joined has one-hop features, directed; raw has not.
	joined, raw view
}

// readStream reads the first timesteps of a dataset.
func readStream(ctx context.Context, folder string, timesteps int) (*dataset.Stream, error) {
	// A copy of Elliptic with fewer columns is not the published one.
	stream, err := dataset.ReadElliptic(ctx, os.DirFS(folder), dataset.EllipticOptions{Name: folder, Lenient: true})
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", folder, err)
	}
	if len(stream.Steps) < timesteps {
		return nil, fmt.Errorf("dataset %s: %d timesteps, want %d", folder, len(stream.Steps), timesteps)
	}
	stream.Steps = stream.Steps[:timesteps]
	return stream, nil
}

// cutter cuts timesteps as the service does.
type cutter struct {
	// secret names the transactions: their order, and with it the shards, depend on it.
	secret lethe.Secret
	shards int
	seed   uint64
	method string
	refine bool
}

// cut partitions and repairs a timestep.
func (c cutter) cut(ctx context.Context, snap *lethe.Snapshot, previous lethe.Timestep) (*step, error) {
	g, err := graph.FromSnapshot(snap)
	if err != nil {
		return nil, err
	}
	config := baselines.DefaultsOf(c.method)
	config.Shards, config.Seed, config.Refine, config.Timestep = c.shards, c.seed, c.refine, snap.Timestep
	s := &step{timestep: snap.Timestep}
	if s.owners, _, err = baselines.Run(ctx, g, config); err != nil {
		return nil, err
	}
	for _, n := range snap.Nodes {
		s.nodes, s.labels = append(s.nodes, n.ID), append(s.labels, n.Label)
	}
	if s.joined, err = c.view(snap, previous, s.owners, onehop.Directed); err != nil {
		return nil, err
	}
	s.raw, err = c.view(snap, previous, s.owners, onehop.None)
	return s, err
}

// view cuts a timestep whose nodes belong to shards already.
func (c cutter) view(
	snap *lethe.Snapshot, previous lethe.Timestep, owners graph.Assignment, mode onehop.Mode,
) (view, error) {
	stubs := repair.Defaults()
	stubs.Seed, stubs.OneHop = c.seed, mode
	cut, err := repair.Slices(snap, previous, owners, c.shards, stubs)
	return view{graph: trainer.InputOf(mode.Join(snap)), slices: cut, unions: make(map[int][]*lethe.Slice)}, err
}

// stream returns all timesteps of a stream, oldest first.
func (c cutter) stream(ctx context.Context, stream *dataset.Stream) ([]*step, error) {
	steps := make([]*step, len(stream.Steps))
	previous := lethe.NoTimestep
	for i := range steps {
		snap := protocol.SnapshotOf(c.secret, &stream.Steps[i], stream.FeatureCount)
		var err error
		if steps[i], err = c.cut(ctx, snap, previous); err != nil {
			return nil, fmt.Errorf("timestep %d: %w", snap.Timestep, err)
		}
		previous = snap.Timestep
	}
	return steps, nil
}

// view returns the timestep as a component sees it.
func (s *step) view(c component) *view {
	if c.raw {
		return &s.raw
	}
	return &s.joined
}

// groups returns what every group of a component learns from, as that of the model of its number: the first group's
// is first. The group of one shard whose number its model has learns from the shard's own slice.
func (v *view) groups(groups, first int) ([]*lethe.Slice, error) {
	if groups == len(v.slices) && first == 0 {
		return v.slices, nil
	}
	if v.unions[groups] == nil {
		unions := make([]*lethe.Slice, groups)
		for g := range unions {
			var parts []*lethe.Slice
			for _, shard := range group.Shards(g, groups, len(v.slices)) {
				parts = append(parts, v.slices[shard])
			}
			var err error
			if unions[g], err = group.Union(lethe.ShardID(g), parts); err != nil {
				return nil, err
			}
		}
		v.unions[groups] = unions
	}
	out := make([]*lethe.Slice, groups)
	for g, union := range v.unions[groups] {
		numbered := *union
		numbered.Shard = lethe.ShardID(first + g)
		out[g] = &numbered
	}
	return out, nil
}
