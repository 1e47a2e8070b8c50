package attack

import (
	"context"
	"fmt"
	"runtime"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/service"
	"lethe/trainer"
)

// lab is a deployment in memory: the same graphs, partition, slices and training
// as a service, without topics and stores. The attacker's shadow and the
// controls are trained in one.
type lab struct {
	config configs.Config
	secret lethe.Secret
	runner ensemble.Runner
	stream *dataset.Stream
	// shards is where every transaction was put.
	shards map[lethe.Pseudonym]lethe.ShardID
	// slices holds one slice per step and shard.
	slices [][]*lethe.Slice
}

// newLab partitions the stream and cuts its slices.
func newLab(ctx context.Context, c configs.Config, secret lethe.Secret, s *dataset.Stream) (*lab, error) {
	set, err := service.KernelsOf(c)
	if err != nil {
		return nil, err
	}
	engine, err := trainer.NewEngine(service.TrainerOptions(c), set)
	if err != nil {
		return nil, err
	}
	workers := c.Trainer.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	runner := ensemble.Runner{Engine: engine, Workers: workers, Describe: scoring.Describe}
	l := &lab{config: c, secret: secret, runner: runner, stream: s, shards: make(map[lethe.Pseudonym]lethe.ShardID)}
	for _, snapshot := range graphs(secret, s, nil) {
		g, err := graph.FromSnapshot(snapshot)
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", snapshot.Timestep, err)
		}
		assignment, _, err := partition.Run(ctx, g, service.PartitionOptions(c))
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", snapshot.Timestep, err)
		}
		for i, n := range snapshot.Nodes {
			l.shards[n.Pseudonym] = assignment[i]
		}
	}
	l.slices, err = l.cut(s)
	return l, err
}

// cut cuts the slices of a stream whose transactions have their shards.
func (l *lab) cut(s *dataset.Stream) ([][]*lethe.Slice, error) {
	var out [][]*lethe.Slice
	previous := lethe.NoTimestep
	for _, snapshot := range graphs(l.secret, s, nil) {
		assignment := make(graph.Assignment, len(snapshot.Nodes))
		for i, n := range snapshot.Nodes {
			assignment[i] = l.shards[n.Pseudonym]
		}
		cut, err := repair.Slices(snapshot, previous, assignment, l.config.Partition.Shards, service.RepairOptions(l.config))
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", snapshot.Timestep, err)
		}
		out = append(out, cut)
		previous = snapshot.Timestep
	}
	return out, nil
}

// erase returns the lab after an erasure: the transactions are left out, and the
// slices that the scope names are replaced.
func (l *lab) erase(scope lethe.Scope, ids []lethe.TransactionID) (*lab, error) {
	gone, own := make(map[lethe.TransactionID]bool), make(map[lethe.Pseudonym]bool)
	for _, id := range ids {
		gone[id], own[l.secret.Pseudonym(id)] = true, true
	}
	after := *l
	after.stream = without(l.stream, gone)
	fresh, err := after.cut(after.stream)
	if err != nil {
		return nil, err
	}
	if len(fresh) != len(l.slices) {
		return nil, fmt.Errorf("erasing %d transactions leaves %d of %d timesteps: take fewer targets", len(ids), len(fresh), len(l.slices))
	}
	after.slices = fresh
	if scope == lethe.ScopeShard {
		for step := range fresh {
			for shard, before := range l.slices[step] {
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
func (l *lab) train(ctx context.Context) (*ensemble.Ensemble, error) {
	columns := make([][]*lethe.Slice, l.config.Partition.Shards)
	for _, step := range l.slices {
		for shard, slice := range step {
			columns[shard] = append(columns[shard], slice)
		}
	}
	return l.runner.Train(ctx, columns)
}
