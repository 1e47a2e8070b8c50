package score

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/check"
	"lethe/partition/onehop"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer/kernels"
)

// Options configures the role.
type Options struct {
	// Dir is the role's folder.
	Dir string
	// Layout describes the models and their training: lineages depend on it.
	Layout ensemble.Layout
	// Meta configures the meta-model; nil without one.
	Meta *meta.Config
	// Workers bounds the models that predict in parallel. The result does not depend on it.
	Workers int
	Scoring scoring.Config
	// Limits bound the transactions that are scored when they arrive, as those of graphs.
	Limits ingest.Limits
	// FirstTimestep and MaxTimestepJump bound their timesteps, as those of graphs.
	FirstTimestep   lethe.Timestep
	MaxTimestepJump int
	// OneHop is the mode with which slices are built: models predict on the same form as they learn from.
	OneHop  onehop.Mode
	Kernels kernels.Set
	// FeatureNames are the names of a transaction's own features, for reasons.
	FeatureNames []string
	Secret       lethe.Secret
	// Instance is the identity of the data directory, for acknowledgements.
	Instance string
	// ReasonsBeside means that reasons are made beside the loop, by Follower.Beside. Otherwise the loop makes them when
	// nothing else is due.
	ReasonsBeside bool
	// Pacer limits the processor time of searches; it may be nil.
	Pacer *scan.Pacer
	role.Surroundings
}

// Validate reports every problem at once.
func (o Options) Validate() error {
	var p check.Problems
	p.That(o.FS != nil, "fs", o.FS, "a file system")
	p.Within("layout", o.Layout.Validate())
	p.Within("scoring", o.Scoring.Validate())
	p.Within("limits", o.Limits.Validate())
	p.AtLeast("workers", o.Workers, 1)
	p.That(!o.Scoring.Provisional || o.MaxTimestepJump >= 1, "max_timestep_jump", o.MaxTimestepJump, "at least 1")
	p.That(o.Instance != "", "instance", o.Instance, "the identity of the data directory")
	p.That(o.Bus != nil, "bus", o.Bus, "the topics")
	return p.Err()
}

// New opens the role's store and returns the role that scores snapshots.
func New(ctx context.Context, o Options) (*role.Follower, error) {
	l, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	r, err := follow(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", errors.Join(err, l.Close()))
	}
	return r, nil
}

// follow returns the role of a logic, as leader or standby.
func follow(ctx context.Context, l *logic) (*role.Follower, error) {
	around := l.o.Surroundings
	if around.Standing.StandsBy() {
		s, err := newStandby(l)
		return role.Follow(roleName, s, around), err
	}
	leads, err := newLeader(ctx, l)
	if err != nil {
		return nil, err
	}
	around.Wake, around.Own = l.explaining.background.Wake(), []bus.Topic{bus.Predictions}
	around.Beside = func(ctx context.Context) error { return beside(ctx, leads) }
	return role.Follow(roleName, leads, around), nil
}

// beside runs the work beside the loop.
func beside(ctx context.Context, l *leader) error {
	group, running := errgroup.WithContext(ctx)
	if l.o.ReasonsBeside {
		group.Go(func() error { return l.explaining.background.Run(running) })
	}
	group.Go(func() error { return l.arrivals.run(running) })
	return wire.UnlessStopped(ctx, group.Wait())
}

// open opens the store in the role's folder.
func open(ctx context.Context, o Options) (*logic, error) {
	if o.Dir == "" {
		return nil, errors.New("dir is empty")
	}
	store, err := openStore(o.FS, o.Dir)
	if err != nil {
		return nil, err
	}
	l, err := newLogic(o, store)
	if err == nil {
		err = l.erasing.suppressErased(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return l, nil
}
