package graphs

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Bus is what the role and the coordinator need of the topics; role.Kafka is one.
type Bus interface {
	role.Bus
	coordinator.Bus
}

var _ Bus = role.Kafka{}

// Options configures the role.
type Options struct {
	// Dir is the role's own folder.
	Dir    string
	Shards int
	// Snapshot says when timesteps end.
	Snapshot snapshot.Config
	// Limits bounds records; its FeatureCount is that of Snapshot.
	Limits ingest.Limits
	// Partition says how a timestep is cut into shards; its Shards and Seed are
	// set from here.
	Partition partition.Config
	Repair    repair.Config
	Seed      uint64
	Secret    lethe.Secret
	// Version is named on dead letters and receipts.
	Version string
	// Erasure says how erasures are carried out. What it has in common with these
	// options is set from here.
	Erasure  coordinator.Config
	Bus      Bus
	Clock    coordinator.Clock
	Listener events.Listener
	Logger   *slog.Logger
}

// EnsureDefaults returns a copy with the unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.Erasure.VerifyTimeout == 0 {
		o.Erasure.VerifyTimeout = 5 * time.Minute
	}
	if o.Clock == nil {
		o.Clock = coordinator.WallClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits.FeatureCount = o.Snapshot.FeatureCount
	o.Listener = events.Tee(o.Listener)
	o.Partition.Shards, o.Partition.Seed, o.Repair.Seed = o.Shards, o.Seed, o.Seed
	o.Erasure.Secret, o.Erasure.Version, o.Erasure.Limits = o.Secret, o.Version, o.Limits
	o.Erasure.OneHop = o.Repair.OneHop != onehop.None
	return o
}

// Validate reports every problem at once.
func (o Options) Validate() error {
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	require(o.Dir != "", "dir is empty")
	require(o.Shards >= 1, "shards is %d, must be at least 1", o.Shards)
	require(o.Bus != nil, "bus is missing")
	errs = append(errs, o.Snapshot.Validate(), o.Limits.Validate(), o.Partition.Validate(), o.Repair.Validate(),
		o.Erasure.Validate())
	return errors.Join(errs...)
}
