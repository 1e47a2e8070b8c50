package graphs

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/internal/check"
	"lethe/internal/patientfs"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/snapshot"
)

// Options configures the role.
type Options struct {
	// FS is the file system of Dir. Receipts and the broker's log are on the
	// machine's.
	FS vfs.FS
	// Patience has receipts wait for a disk that takes no writes, as FS does, or is nil.
	Patience *patientfs.Patience
	// Dir is the role's own folder.
	Dir string
	// ReceiptsDir is where signed receipts are kept. It is searched too.
	ReceiptsDir string
	// BrokerDir is the embedded broker's folder, which is searched too; empty
	// with an outside Kafka.
	BrokerDir string
	// Log, if not nil, reads the topics where the embedded broker keeps them.
	Log coordinator.Log
	// Snapshot says when timesteps end.
	Snapshot snapshot.Config
	// Limits bounds records; its FeatureCount is that of Snapshot.
	Limits ingest.Limits
	// Partition says how a timestep is cut into shards. Its seed is that of Repair too.
	Partition partition.Config
	Repair    repair.Config
	Secret    lethe.Secret
	// Version is named on dead letters and receipts.
	Version string
	// Erasure says how erasures are carried out. What it has in common with these
	// options is set from here.
	Erasure coordinator.Config
	// Compact, if not nil, makes the broker's cleaner run at once.
	Compact func() error
	// Pacer keeps searches from taking more than their share, or is nil.
	Pacer *scan.Pacer
	// Beside runs a search that verifies an erasure, now or later, such as in a goroutine
	// of its own. Close waits for it.
	Beside func(search func())
	// PartitionsHold, if not nil, reports whether the topics still have the partitions they had
	// when they were opened. No timestep is closed or settled while it says no.
	PartitionsHold func(ctx context.Context) bool
	// Questions, if not nil, are answered between two steps.
	Questions *Questions
	Bus       Bus
	Clock     coordinator.Clock
	Listener  events.Listener
	Logger    *slog.Logger
}

// agreed returns a copy whose parts have in common what they must.
func (o Options) agreed() Options {
	o.Limits.FeatureCount = o.Snapshot.FeatureCount
	o.Listener = events.Tee(o.Listener)
	o.Repair.Seed = o.Partition.Seed
	o.Erasure.Secret, o.Erasure.Version, o.Erasure.Limits = o.Secret, o.Version, o.Limits
	o.Erasure.OneHop = o.Repair.OneHop != onehop.None
	o.Erasure.IndependentShards = o.Partition.Method == partition.MethodIndependent
	return o
}

// places are the folders where a copy of what was erased could be.
func (o Options) places() []coordinator.Place {
	out := []coordinator.Place{
		coordinator.Folder(coordinator.GraphsFolder, swapstore.Files(o.FS, o.Dir)),
		coordinator.Receipted(os.DirFS(o.ReceiptsDir)),
	}
	if o.BrokerDir != "" {
		out = append(out, coordinator.Folder(coordinator.BrokerFolder, os.DirFS(o.BrokerDir)))
	}
	return out
}

// Validate reports every problem at once.
func (o Options) Validate() error {
	var p check.Problems
	p.That(o.FS != nil, "fs", o.FS, "a file system")
	p.That(o.Dir != "", "dir", o.Dir, "the name of a folder")
	p.That(o.ReceiptsDir != "", "receipts_dir", o.ReceiptsDir, "the name of a folder")
	p.That(o.Bus != nil, "bus", o.Bus, "the topics")
	p.That(o.Beside != nil, "beside", "nil", "a function that runs a search")
	p.That(o.Clock != nil, "clock", o.Clock, "one")
	p.That(o.Logger != nil, "logger", o.Logger, "one")
	return errors.Join(p.Err(), o.Snapshot.Validate(), o.Limits.Validate(), o.Partition.Validate(), o.Repair.Validate(),
		o.Erasure.Validate())
}
