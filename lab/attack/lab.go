package attack

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/pipeline/train"
	"lethe/service"
	"lethe/trainer"
)

// lab is a deployment in memory: the same graphs, partition, slices and training
// as a service, without topics and stores. The attacker's shadow and the
// controls are trained in one.
type lab struct {
	config configs.Config
	secret lethe.Secret
	engine *trainer.Engine
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
	l := &lab{config: c, secret: secret, engine: engine, stream: s, shards: make(map[lethe.Pseudonym]lethe.ShardID)}
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
func (l *lab) train(ctx context.Context) ([]*trainer.Checkpoint, error) {
	workers := l.config.Trainer.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	models := make([]*trainer.Checkpoint, l.config.Partition.Shards)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for shard := range models {
		g.Go(func() (err error) {
			models[shard], err = l.trainShard(ctx, lethe.ShardID(shard))
			return err
		})
	}
	return models, g.Wait()
}

// trainShard trains one shard. Under the schedule window only the last timestep
// decides.
func (l *lab) trainShard(ctx context.Context, shard lethe.ShardID) (*trainer.Checkpoint, error) {
	var model *trainer.Checkpoint
	var window []*lethe.Slice
	for i, step := range l.slices {
		window = append(window, step[shard])
		window = window[max(0, len(window)-l.config.Trainer.WindowTimesteps):]
		if l.config.Trainer.Schedule == trainer.Window && i < len(l.slices)-1 {
			continue
		}
		var err error
		if model, _, err = train.Step(ctx, l.engine, shard, model, window); err != nil {
			return nil, fmt.Errorf("shard %d timestep %d: %w", shard, step[shard].Timestep, err)
		}
	}
	return model, nil
}
