package attack

import (
	"context"
	"fmt"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// replica is a deployment in memory: the same graphs, partition, slices and training
// as a service, without topics and stores. The attacker's shadow and the
// controls are trained in one.
type replica struct {
	config configs.Config
	secret lethe.Secret
	runner ensemble.Runner
	stream *dataset.Stream
	// shards is where every transaction was put.
	shards map[lethe.Pseudonym]lethe.ShardID
	// slices holds one slice per step and shard.
	slices [][]*lethe.Slice
}

// newReplica partitions the stream and cuts its slices.
func newReplica(ctx context.Context, c configs.Config, secret lethe.Secret, s *dataset.Stream) (*replica, error) {
	set, err := c.KernelSet()
	if err != nil {
		return nil, err
	}
	engine, err := trainer.NewEngine(c.TrainerConfig(), set)
	if err != nil {
		return nil, err
	}
	runner := ensemble.Runner{Engines: []*trainer.Engine{engine}, Workers: c.Workers()}
	r := &replica{config: c, secret: secret, runner: runner, stream: s}
	if err := r.deal(ctx); err != nil {
		return nil, err
	}
	r.slices, err = r.cut(s)
	return r, err
}

// deal partitions every timestep as it is.
func (r *replica) deal(ctx context.Context) error {
	r.shards = make(map[lethe.Pseudonym]lethe.ShardID)
	for _, snapshot := range graphs(r.secret, r.stream, nil) {
		g, err := graph.FromSnapshot(snapshot)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", snapshot.Timestep, err)
		}
		cut := r.config.PartitionConfig()
		cut.Timestep = snapshot.Timestep
		assignment, _, err := partition.Run(ctx, g, cut)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", snapshot.Timestep, err)
		}
		for i, n := range snapshot.Nodes {
			r.shards[n.Pseudonym] = assignment[i]
		}
	}
	return nil
}

// cut cuts the slices of a stream whose transactions have their shards.
func (r *replica) cut(s *dataset.Stream) ([][]*lethe.Slice, error) {
	var out [][]*lethe.Slice
	previous := lethe.NoTimestep
	for _, snapshot := range graphs(r.secret, s, nil) {
		assignment := make(graph.Assignment, len(snapshot.Nodes))
		for i, n := range snapshot.Nodes {
			assignment[i] = r.shards[n.Pseudonym]
		}
		cut, err := repair.Slices(snapshot, previous, assignment, r.config.Partition.Shards, r.config.RepairConfig())
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", snapshot.Timestep, err)
		}
		out = append(out, cut)
		previous = snapshot.Timestep
	}
	return out, nil
}

// erase returns the replica after an erasure: the transactions are left out, and the
// slices that the scope names are replaced.
func (r *replica) erase(ctx context.Context, scope lethe.Scope, ids []lethe.TransactionID) (*replica, error) {
	gone, own := make(map[lethe.TransactionID]bool), make(map[lethe.Pseudonym]bool)
	for _, id := range ids {
		gone[id], own[r.secret.Pseudonym(id)] = true, true
	}
	after := *r
	after.stream = without(r.stream, gone)
	if scope == lethe.ScopePartition {
		if err := after.deal(ctx); err != nil {
			return nil, err
		}
	}
	fresh, err := after.cut(after.stream)
	if err != nil {
		return nil, err
	}
	if len(fresh) != len(r.slices) {
		return nil, fmt.Errorf("erasing %d transactions leaves %d of %d timesteps: take fewer targets", len(ids), len(fresh),
			len(r.slices))
	}
	after.slices = fresh
	if scope == lethe.ScopeShard {
		for step := range fresh {
			for shard, before := range r.slices[step] {
				if !holds(before, own) {
					fresh[step][shard] = before
				}
			}
		}
	}
	return &after, nil
}

// holds reports whether the slice has one of the nodes.
func holds(s *lethe.Slice, nodes map[lethe.Pseudonym]bool) bool {
	for _, n := range s.Nodes {
		if nodes[n] {
			return true
		}
	}
	return false
}

// train trains every shard through all its slices.
func (r *replica) train(ctx context.Context) (*ensemble.Ensemble, error) {
	columns := make([][]*lethe.Slice, r.config.Partition.Shards)
	for _, step := range r.slices {
		for shard, slice := range step {
			columns[shard] = append(columns[shard], slice)
		}
	}
	return r.runner.Train(ctx, columns)
}
