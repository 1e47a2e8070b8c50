package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"lethe"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// Options configures the role.
type Options struct {
	// Dir is the role's own folder; it holds one store per shard.
	Dir    string
	Shards int
	// Workers bounds how many shards train side by side; 0 means one per CPU.
	// The result does not depend on it.
	Workers  int
	Trainer  trainer.Config
	Kernels  kernels.Set
	Secret   lethe.Secret
	Client   *bus.Client
	Listener events.Listener
	Logger   *slog.Logger
}

// EnsureDefaults returns a copy with the unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Listener = o.Listener.EnsureDefaults()
	return o
}

// Validate reports every problem at once.
func (o Options) Validate() error {
	var errs []error
	if o.Shards < 1 {
		errs = append(errs, fmt.Errorf("shards is %d, must be at least 1", o.Shards))
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("workers is %d, must be at least 1", o.Workers))
	}
	if o.Dir == "" {
		errs = append(errs, errors.New("dir is empty"))
	}
	if o.Client == nil {
		errs = append(errs, errors.New("client is missing"))
	}
	return errors.Join(errs...)
}

// Role trains the shards. Use New, Run once, then Close.
type Role struct {
	o        Options
	runner   ensemble.Runner
	columns  []*column
	erasures map[string]*erasure
	// slicePartitions and modelPartitions are those of the topics.
	slicePartitions, modelPartitions int
}

// New opens every shard's store.
func New(o Options) (*Role, error) {
	o = o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("train role: %w", err)
	}
	engine, err := trainer.NewEngine(o.Trainer, o.Kernels)
	if err != nil {
		return nil, fmt.Errorf("train role: %w", err)
	}
	if err := checkShards(o.Dir, o.Shards); err != nil {
		return nil, fmt.Errorf("train role: %w", err)
	}
	runner := ensemble.Runner{Engine: engine, Workers: o.Workers, Describe: scoring.Describe}
	r := &Role{o: o, runner: runner, erasures: make(map[string]*erasure)}
	for shard := range lethe.ShardID(o.Shards) {
		c, err := openColumn(shardDir(o.Dir, shard), shard)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.columns = append(r.columns, c)
	}
	return r, nil
}

// Name implements role.Role.
func (r *Role) Name() string { return roleName }

// Status implements role.Role: what this role knows is on its topics.
func (r *Role) Status() *role.Status { return &role.Status{} }

// refresh forgets the checkpoints that training cannot go on from, because they
// were made with other options or another kernel set: what is served must be
// what the slices give under the present ones.
func (r *Role) refresh(ctx context.Context) error {
	for _, c := range r.columns {
		if c.newest == nil {
			continue
		}
		err := r.runner.Engine.Compatible(c.newest)
		if err == nil {
			continue
		}
		if !errors.Is(err, trainer.ErrIncompatible) {
			return fmt.Errorf("shard %d: checkpoint after timestep %d: %w", c.shard, c.trained, err)
		}
		r.o.Logger.Warn("checkpoints cannot be continued: training the shard anew from its slices",
			"shard", c.shard, "slices", len(c.timesteps), "reason", err)
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the stores. It must not be called while Run is running.
func (r *Role) Close() error {
	var errs []error
	for _, c := range r.columns {
		errs = append(errs, c.store.Close())
	}
	r.columns = nil
	return errors.Join(errs...)
}

// Run follows the topics until the context ends, which is not an error.
func (r *Role) Run(ctx context.Context) error {
	var err error
	if r.slicePartitions, err = r.o.Client.Partitions(ctx, bus.Slices); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	if r.modelPartitions, err = r.o.Client.Partitions(ctx, bus.Models); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	if err := r.refresh(ctx); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	tail, err := r.o.Client.Tail(r.positions())
	if err != nil {
		return err
	}
	defer tail.Close()
	// What was trained before a crash may not have been published.
	if err := r.catchUp(ctx, r.columns); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	reader := wire.NewReader()
	for {
		batch, err := wire.Next(ctx, tail, r.o.Logger)
		if err != nil {
			return wire.UnlessStopped(ctx, err)
		}
		if batch.Source.Topic == bus.ErasureStatus {
			err = r.takeNotices(batch)
		} else {
			err = r.takeSlices(ctx, reader, batch)
			r.o.Listener.LagMeasured(events.LagMeasured{
				Topic: string(batch.Source.Topic), Partition: batch.Source.Partition, Records: max(0, batch.End-batch.Next),
			})
		}
		if err == nil {
			err = r.acknowledge(ctx)
		}
		if err != nil {
			return wire.UnlessStopped(ctx, err)
		}
	}
}

// positions returns where to resume each partition: at the oldest offset that
// one of its shards has applied. Applying a record twice is harmless.
func (r *Role) positions() map[bus.TopicPartition]int64 {
	positions := make(map[bus.TopicPartition]int64)
	for p := range r.slicePartitions {
		positions[bus.TopicPartition{Topic: bus.Slices, Partition: p}] = bus.FromStart
	}
	seen := make(map[bus.TopicPartition]bool)
	for _, c := range r.columns {
		tp := bus.TopicPartition{Topic: bus.Slices, Partition: wire.PartitionOf(c.shard, r.slicePartitions)}
		if !seen[tp] || c.offset < positions[tp] {
			positions[tp], seen[tp] = c.offset, true
		}
	}
	// Erasure notices are few and read from their start, so that requests
	// under way at a crash are dealt with.
	positions[bus.TopicPartition{Topic: bus.ErasureStatus}] = bus.FromStart
	return positions
}

// takeSlices stores the slices of a batch and trains the shards they belong to.
func (r *Role) takeSlices(ctx context.Context, reader *wire.Reader, batch bus.Batch) error {
	messages, err := reader.Read(batch)
	if err != nil {
		return err
	}
	touched := make(map[lethe.ShardID]*column)
	for _, m := range messages {
		if int(m.Key.Shard) >= len(r.columns) {
			return fmt.Errorf("slice of shard %d at timestep %d, but partition.shards is %d (%s)",
				m.Key.Shard, m.Key.Timestep, len(r.columns), otherShards)
		}
		c := r.columns[m.Key.Shard]
		if err := c.accept(ctx, m); err != nil {
			return err
		}
		touched[m.Key.Shard] = c
	}
	var due []*column
	for shard := range lethe.ShardID(len(r.columns)) {
		if c := touched[shard]; c != nil {
			due = append(due, c)
		}
	}
	return r.catchUp(ctx, due)
}

// catchUp trains the columns side by side, one goroutine each, and publishes
// what they have not published yet.
func (r *Role) catchUp(ctx context.Context, due []*column) error {
	return r.runner.Each(ctx, len(due), func(ctx context.Context, i int) error {
		return r.catchUpOne(ctx, due[i])
	})
}
