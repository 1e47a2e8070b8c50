package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// Options configures the role.
type Options struct {
	// Dir is the role's own folder.
	Dir    string
	Shards int
	// LabelLag is by how many snapshots more than one the ensemble that scores
	// a snapshot is behind it.
	LabelLag int
	// Workers bounds how many shard models are asked side by side; 0 means one
	// per CPU. The result does not depend on it.
	Workers     int
	Aggregation scoring.Method
	// Temperature of similarity aggregation; 0 is the default of package
	// scoring.
	Temperature float64
	// Threshold is the probability from which a transaction is called illicit.
	Threshold float64
	// OneHop and OneHopDirected must equal what slices are built with: models see graphs as they
	// saw slices.
	OneHop, OneHopDirected bool
	// Trainer must equal the training role's options: lineages depend on them.
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
	if o.Aggregation == "" {
		o.Aggregation = scoring.MethodMean
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
	if o.Dir == "" {
		errs = append(errs, errors.New("dir is empty"))
	}
	if o.Shards < 1 {
		errs = append(errs, fmt.Errorf("shards is %d, must be at least 1", o.Shards))
	}
	if o.LabelLag < 0 {
		errs = append(errs, fmt.Errorf("label lag is %d timesteps, must not be negative", o.LabelLag))
	}
	if o.Threshold < 0 || o.Threshold > 1 {
		errs = append(errs, fmt.Errorf("threshold is %g, must be in [0, 1]", o.Threshold))
	}
	if !slices.Contains(scoring.ServedMethods(), o.Aggregation) {
		errs = append(errs, fmt.Errorf("aggregation is %q, want one of %q", o.Aggregation, scoring.ServedMethods()))
	}
	if o.Client == nil {
		errs = append(errs, errors.New("client is missing"))
	}
	return errors.Join(errs...)
}

// Role scores snapshots. Use New, Run once, then Close.
type Role struct {
	o           Options
	runner      ensemble.Runner
	state       *state
	erasures    map[string]*erasure
	aggregation scoring.Aggregation
	status      atomic.Pointer[progress]
}

// New opens the role's store.
func New(o Options) (*Role, error) {
	o = o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	engine, err := trainer.NewEngine(o.Trainer, o.Kernels)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	aggregation, err := scoring.NewAggregation(o.Aggregation, o.Temperature)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	s, err := openState(stateDir(o.Dir), swapstore.Options{}, o.Trainer, o.Shards)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	runner := ensemble.Runner{Engine: engine, Workers: o.Workers}
	r := &Role{o: o, runner: runner, aggregation: aggregation, state: s, erasures: make(map[string]*erasure)}
	r.publishStatus()
	return r, nil
}

// Name implements role.Role.
func (r *Role) Name() string { return roleName }

// Close closes the store. It must not be called while Run is running.
func (r *Role) Close() error { return r.state.store.Close() }

// Run follows the topics until the context ends, which is not an error.
func (r *Role) Run(ctx context.Context) error {
	positions, err := r.positions(ctx)
	if err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	tail, err := r.o.Client.Tail(positions)
	if err != nil {
		return err
	}
	defer tail.Close()
	if err := r.measureMissing(); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	if err := r.advance(ctx); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	graphs, models := wire.NewReader(), wire.NewReader()
	for {
		batch, err := role.Next(ctx, tail, r.o.Logger)
		if err != nil {
			return wire.UnlessStopped(ctx, err)
		}
		switch batch.Source.Topic {
		case bus.ErasureStatus:
			err = r.takeNotices(batch)
		case bus.Models:
			err = r.takeMessages(models, batch)
			r.measureLag(batch)
		default:
			err = r.takeMessages(graphs, batch)
			r.measureLag(batch)
		}
		if err == nil {
			err = r.advance(ctx)
		}
		if err == nil {
			err = r.acknowledge(ctx)
		}
		if err != nil {
			return wire.UnlessStopped(ctx, err)
		}
		r.publishStatus()
	}
}

// measureLag tells the listener how much of a partition is still to come.
func (r *Role) measureLag(batch bus.Batch) {
	r.o.Listener.LagMeasured(events.LagMeasured{
		Topic: string(batch.Source.Topic), Partition: batch.Source.Partition, Records: max(0, batch.End-batch.Next),
	})
}

// positions returns where to resume every partition. Erasure notices are few
// and read from their start, so that requests under way at a crash are dealt
// with.
func (r *Role) positions(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	positions := make(map[bus.TopicPartition]int64)
	for _, topic := range []bus.Topic{bus.Snapshots, bus.Models} {
		n, err := r.o.Client.Partitions(ctx, topic)
		if err != nil {
			return nil, err
		}
		for p := range n {
			tp := bus.TopicPartition{Topic: topic, Partition: p}
			if positions[tp], err = r.state.offset(tp); err != nil {
				return nil, err
			}
		}
	}
	positions[bus.TopicPartition{Topic: bus.ErasureStatus}] = bus.FromStart
	return positions, nil
}

// closeOnError closes a store because of an error and returns that error
// together with closing's own.
func closeOnError(store *swapstore.Store, err error) error {
	return errors.Join(err, store.Close())
}
