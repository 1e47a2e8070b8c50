package graphs

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/snapshot"
)

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
	// BrokerDir is the embedded broker's folder, which is searched too when an
	// erasure is verified; empty with an outside Kafka.
	BrokerDir string
	// Compact, if not nil, makes the broker's cleaner run at once. Only the
	// embedded broker can be asked; an outside Kafka cleans when it is due.
	Compact func() error
	// ReceiptsDir is where signed receipts are kept.
	ReceiptsDir string
	// VerifyTimeout bounds how long compaction is waited for before an erasure
	// counts as failed and is tried again.
	VerifyTimeout time.Duration
	Secret        lethe.Secret
	SigningKey    ed25519.PrivateKey
	// KernelSet and Version are named on receipts.
	KernelSet, Version string
	Client             *bus.Client
	Clock              func() time.Time
	Listener           events.Listener
	Logger             *slog.Logger
}

// EnsureDefaults returns a copy with the unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.VerifyTimeout == 0 {
		o.VerifyTimeout = 5 * time.Minute
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits.FeatureCount = o.Snapshot.FeatureCount
	o.Listener = events.Tee(o.Listener)
	o.Partition.Shards, o.Partition.Seed, o.Repair.Seed = o.Shards, o.Seed, o.Seed
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
	require(o.ReceiptsDir != "", "receipts dir is empty")
	require(o.Shards >= 1, "shards is %d, must be at least 1", o.Shards)
	require(o.VerifyTimeout > 0, "verify timeout is %v, must be positive", o.VerifyTimeout)
	require(len(o.SigningKey) == ed25519.PrivateKeySize, "signing key has %d bytes, want %d", len(o.SigningKey), ed25519.PrivateKeySize)
	require(o.KernelSet != "", "kernel set is empty, receipts must name it")
	require(o.Version != "", "version is empty, receipts must name it")
	require(o.Client != nil, "client is missing")
	errs = append(errs, o.Snapshot.Validate(), o.Limits.Validate(), o.Partition.Validate(), o.Repair.Validate())
	return errors.Join(errs...)
}
