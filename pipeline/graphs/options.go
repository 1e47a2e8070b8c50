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

// Bus is the topics as the role and the coordinator use them; role.Kafka is one.
type Bus interface {
	role.Bus
	search.Topics
}

var _ Bus = role.Kafka{}

// Options configures the role.
type Options struct {
	// FS is the file system of Dir. Receipts and the broker's log are on the machine's.
	FS vfs.FS
	// Patience makes the writing of receipts wait for a full disk, as FS does; it may be nil.
	Patience *patientfs.Patience
	// Dir is the role's folder.
	Dir string
	// ReceiptsDir is the folder of signed receipts. It is searched too.
	ReceiptsDir string
	// BrokerDir is the embedded broker's folder, which is searched too; empty with an external Kafka.
	BrokerDir string
	// Log, if not nil, reads topics from the embedded broker's files.
	Log search.Log
	// Snapshot configures when timesteps close and settle.
	Snapshot snapshot.Config
	// Limits bounds records; its FeatureCount is that of Snapshot.
	Limits ingest.Limits
	// Partition configures the shards. Its seed is that of Repair too.
	Partition partition.Config
	Repair    repair.Config
	Secret    lethe.Secret
	// Version is named on dead letters and receipts.
	Version string
	// Erasure configures the coordinator. Fields that it shares with these options are set from them.
	Erasure coordinator.Config
	// Compact, if not nil, runs the broker's cleaner.
	Compact func() error
	// Pacer limits the processor time of searches; it may be nil.
	Pacer *scan.Pacer
	// Beside runs long work, such as a search, beside the loop: now, or later in another goroutine. Close waits for it.
	Beside func(work func())
	// PartitionsHold, if not nil, reports whether the topics still have their original numbers of partitions. While it
	// returns false no timestep is closed or settled.
	PartitionsHold func(ctx context.Context) bool
	// First, if not nil, makes settling wait for more urgent work of the process.
	First *precedence.Rule
	// Workers is the number of goroutines that decode records; 0 means one.
	Workers int
	// Instance is the identity of the data directory, if other processes have the role too.
	Instance string
	// Run is the identity of the process.
	Run string
	// standing and handover are set by As.
	standing *role.Standing
	handover *Handover
	// wakes wakes the role.
	wakes chan struct{}
	// Questions, if not nil, are answered between two steps.
	Questions *Questions
	Bus       Bus
	Clock     search.Clock
	Listener  events.Listener
	// Sampler chooses the transactions that are reported individually.
	Sampler events.Sampler
	Logger  *slog.Logger
}

// Handover is the state that the openings of a process pass on. The zero value is that of a new process.
type Handover struct {
	// Leader is the data directory of the newest epoch, or empty.
	Leader string
	// done is the last entry that this process's store has applied.
	done journal.Position
}

// agreed returns a copy whose parts have the same values where they must.
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

// places are the folders that may hold a copy of erased data.
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
