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
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/internal/check"
	"lethe/internal/patientfs"
	"lethe/internal/precedence"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Bus is what the role and the coordinator need of the topics; role.Kafka is one.
type Bus interface {
	role.Bus
	search.Topics
}

var _ Bus = role.Kafka{}

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
	Log search.Log
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
	// Beside runs what takes long beside the loop, such as a search that verifies an erasure, now or later, such as in a
	// goroutine of its own. Close waits for it.
	Beside func(work func())
	// PartitionsHold, if not nil, reports whether the topics still have the partitions they had
	// when they were opened. No timestep is closed or settled while it says no.
	PartitionsHold func(ctx context.Context) bool
	// First, if not nil, says what of the same process settling a timestep gives way to.
	First *precedence.Rule
	// Workers is how many goroutines decode records; 0 is one.
	Workers int
	// Instance is the identity of the data directory, where others share the role.
	Instance string
	// Run is that of the process, as it said who plays the role.
	Run string
	// standing and heard are set by As.
	standing *role.Standing
	heard    *Heard
	// wakes has the role step.
	wakes chan struct{}
	// Questions, if not nil, are answered between two steps.
	Questions *Questions
	Bus       Bus
	Clock     search.Clock
	Listener  events.Listener
	// Sampler chooses the transactions that the listener hears of one by one.
	Sampler events.Sampler
	Logger  *slog.Logger
}

// Heard is what a process knows of those that led before. Its zero value is that of one that has read nothing.
type Heard struct {
	// Leader is the data directory that began the newest epoch, or empty.
	Leader string
	// done is the last entry of the journal that this process's store has done.
	done journal.Position
}

// agreed returns a copy whose parts have in common what they must.
func (o Options) agreed() Options {
	o.Limits.FeatureCount = o.Snapshot.FeatureCount
	o.Listener = events.Tee(o.Listener)
	o.Workers = max(o.Workers, 1)
	o.Repair.Seed = o.Partition.Seed
	if o.wakes = make(chan struct{}, 1); o.Questions != nil {
		o.wakes = o.Questions.wake
	}
	o.Erasure.Secret, o.Erasure.Version, o.Erasure.Limits = o.Secret, o.Version, o.Limits
	o.Erasure.Instance = o.Instance
	o.Erasure.OneHop = o.Repair.OneHop != onehop.None
	o.Erasure.IndependentShards = o.Partition.Method == partition.MethodIndependent
	return o
}

// places are the folders where a copy of what was erased could be.
func (o Options) places() []search.Place {
	out := []search.Place{
		search.Folder(search.GraphsFolder, swapstore.Files(o.FS, o.Dir)),
		search.Receipts(os.DirFS(o.ReceiptsDir)),
	}
	if o.BrokerDir != "" {
		out = append(out, search.Folder(search.BrokerFolder, os.DirFS(o.BrokerDir)))
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
	p.That(o.Beside != nil, "beside", "nil", "a function that runs something")
	p.That(o.Clock != nil, "clock", o.Clock, "one")
	p.That(o.Logger != nil, "logger", o.Logger, "one")
	return errors.Join(p.Err(), o.Snapshot.Validate(), o.Limits.Validate(), o.Partition.Validate(), o.Repair.Validate(),
		o.Erasure.Validate())
}
