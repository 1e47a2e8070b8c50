package graphs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/internal/check"
	"lethe/internal/patientfs"
	"lethe/internal/precedence"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/pipeline/role"
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
	// Questions, if not nil, are answered between two steps.
	Questions *Questions
	Bus       Bus
	Clock     search.Clock
	Listener  events.Listener
	// Sampler chooses the transactions that the listener hears of one by one.
	Sampler events.Sampler
	Logger  *slog.Logger
}

// agreed returns a copy whose parts have in common what they must.
func (o Options) agreed() Options {
	o.Limits.FeatureCount = o.Snapshot.FeatureCount
	o.Listener = events.Tee(o.Listener)
	o.Workers = max(o.Workers, 1)
	o.Repair.Seed = o.Partition.Seed
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

// wakes is where what runs beside the loop says that it has ended.
func (o Options) wakes() chan struct{} {
	if o.Questions != nil {
		return o.Questions.wake
	}
	return make(chan struct{}, 1)
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

// ErrSettings is returned when the stream was begun with settings that give
// other slices: what is published again would not fit what is there. The
// operator restores the settings, or begins again with an empty data directory
// and empty topics.
var ErrSettings = errors.New("the data directory was written with other settings")

// remedy says what the operator can do when stores and settings do not fit.
const remedy = "restore what differs, or begin anew with an empty data directory and empty topics"

// other stands for a value that is noted nowhere: any but those that are.
const other = "another"

func settingsMark() []byte { return []byte("settings") }

// settingsOf are what the slices of settled timesteps depend on in addition to
// the records, by configuration key. How timesteps to come are partitioned may
// change: the assignment of a settled one is kept with it. Not so whether shards are
// independent, for receipts and lethe verify say so of all timesteps.
func settingsOf(p partition.Config, r repair.Config) map[string]string {
	out := map[string]string{
		"seed":             fmt.Sprint(p.Seed),
		"partition.shards": fmt.Sprint(p.Shards),
		"repair.method":    r.Method,
		"repair.tau":       fmt.Sprint(r.Tau),
		"repair.min_stubs": fmt.Sprint(r.MinStubs),
		"repair.one_hop":   markOf(r.OneHop),
	}
	if p.Method == partition.MethodIndependent {
		out["partition.method"] = p.Method
	}
	return out
}

// markOf returns the words for a mode that stores were begun with.
func markOf(m onehop.Mode) string {
	return map[onehop.Mode]string{onehop.None: "false", onehop.Undirected: "true", onehop.Directed: "directed"}[m]
}

// keepSettings is CheckSettings, which notes the settings in a new store.
func keepSettings(marks snapshot.Marks, p partition.Config, r repair.Config) error {
	if _, found, err := marks.Get(settingsMark()); err != nil || found {
		return errors.Join(err, CheckSettings(marks, p, r))
	}
	value, err := json.Marshal(settingsOf(p, r))
	if err != nil {
		return err
	}
	return marks.Put(settingsMark(), value)
}

// CheckSettings compares settings with those that a store of graphs was begun with,
// if it was. The error is ErrSettings and names all that differ.
func CheckSettings(marks snapshot.Marks, p partition.Config, r repair.Config) error {
	value, found, err := marks.Get(settingsMark())
	if err != nil || !found {
		return err
	}
	now := settingsOf(p, r)
	var then map[string]string
	if err := json.Unmarshal(value, &then); err != nil {
		return fmt.Errorf("stored settings: %w", err)
	}
	var differ []string
	for _, key := range sortedset.Add(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(then))...) {
		if then[key] != now[key] {
			was, is := cmp.Or(then[key], other), cmp.Or(now[key], other)
			differ = append(differ, fmt.Sprintf("%s was %s, now it is %s", key, was, is))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s (%s)", ErrSettings, strings.Join(differ, "; "), remedy)
}
