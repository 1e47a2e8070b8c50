package snapshot

import (
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/check"
	"lethe/snapshot/stored"
)

// What becomes of late records.
const (
	// Reopen takes them: their timestep is written anew.
	Reopen = "reopen"
	// DeadLetter refuses them.
	DeadLetter = "dlq"
)

// AnyTimestep as Config.ReopenTimesteps takes late records of all timesteps.
const AnyTimestep = -1

// ByControl as a lateness ends a timestep only when a control record says so.
const ByControl = -1

// MaxLateness bounds both latenesses. With maxJump it keeps sums with timesteps far from
// overflow.
const MaxLateness, maxJump = 1_000_000, 1_000_000_000

// maxWaiting is what some gigabytes of memory hold the keys of.
const maxWaiting = 100_000_000

// maxWindow is far longer than any burst.
const maxWindow = 24 * time.Hour

// maxTimestep leaves room to add 1, and is what JSON can carry exactly.
const maxTimestep lethe.Timestep = 1 << 53

// Config says which records belong to a stream and when its timesteps end.
type Config struct {
	// AllowedLatenessTimesteps is by how many timesteps a transaction or payment
	// may come behind the newest of its partition, or ByControl.
	AllowedLatenessTimesteps int `yaml:"allowed_lateness_timesteps" help:"How far behind its partition a record may come."`
	// LabelLatenessTimesteps is the same for labels, after which a timestep
	// settles.
	LabelLatenessTimesteps int `yaml:"label_lateness_timesteps" help:"The same for labels; -1: control records alone."`
	// Late says what becomes of the record of a timestep that its partition has
	// passed: Reopen or DeadLetter.
	Late string `yaml:"late" help:"Late records: reopen (their timestep) or dlq."`
	// ReopenWindow is how long late records of closed timesteps may wait for others,
	// so that a burst of them is one replay. What is closed or settled meanwhile
	// ends the wait. The owner of a Store keeps to it.
	ReopenWindow time.Duration `yaml:"reopen_window" help:"How long late records wait for others, then reopen a timestep."`
	// ReopenTimesteps is how far behind the newest timestep that its partition has ended a
	// late record may be, or AnyTimestep. What is older is refused.
	ReopenTimesteps int `yaml:"reopen_timesteps" help:"How far back late records reopen timesteps; -1: all."`
	// FirstTimestep is where every watermark starts: records before it are late and
	// reopen nothing. A partition that has been read from already keeps its
	// watermark.
	FirstTimestep lethe.Timestep `yaml:"first_timestep" help:"Where the stream begins; earlier records are late."`
	// MaxTimestepJump is by how much a timestep may exceed its partition's
	// watermark; a record beyond it is refused and ends nothing, for one wrong
	// number would make late whatever follows. It must exceed both latenesses, by
	// which watermarks stay behind.
	MaxTimestepJump int `yaml:"max_timestep_jump" help:"How far a record may be ahead of its partition, in timesteps."`
	// MaxWaiting bounds the payments that wait for transactions, and the labels that do; those
	// of timesteps that are over count too. More are refused.
	MaxWaiting int `yaml:"max_waiting" help:"Bound of the payments, and of the labels, whose transactions have not come."`
	// MaxOpenTimesteps bounds the timesteps that are open, those that may close not among
	// them, when everything was read that was sent. Records that begin more are refused.
	MaxOpenTimesteps int `yaml:"max_open_timesteps" help:"Bound of the timesteps that are open at a time."`
	// FeatureCount is the number of features of every transaction. With 0, the most
	// frequent one of the first timestep of ten transactions decides, see the
	// package comment.
	FeatureCount int `yaml:"feature_count" help:"Features of every transaction; 0: the first timestep of ten decides."`
	// OpenStores bounds how many closed timesteps are held open.
	OpenStores int `yaml:"-"`
	// RewriteAtOnce is how many stores an erasure writes anew at a time: each waits for the
	// disk most of the time.
	RewriteAtOnce int `yaml:"-"`
	// RowFileBytes is from how many bytes on the transactions of an open timestep that come in one batch are kept in a
	// file, and not one by one: the disk is waited for once more then.
	RowFileBytes int `yaml:"-"`
	// CommitsAhead is how many batches may be on their way to the disk while the next is taken, 0 for none: each is waited
	// for.
	CommitsAhead int `yaml:"-"`
}

// Defaults returns the configuration of a stream whose labels are settled by
// control records: settling by lateness would train on a timestep whose labels
// are still on their way, and only the sender knows when they are in. As many
// stores stay open as an erasure of many transactions goes through three times.
func Defaults() Config {
	const rowFileBytes = 512 << 10
	return Config{
		LabelLatenessTimesteps: ByControl, Late: Reopen, ReopenWindow: 30 * time.Second, ReopenTimesteps: AnyTimestep,
		MaxTimestepJump: 1000, MaxWaiting: 100_000, MaxOpenTimesteps: 100, OpenStores: 64, RewriteAtOnce: 4, CommitsAhead: 8,
		RowFileBytes: rowFileBytes,
	}
}

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("allowed_lateness_timesteps", c.AllowedLatenessTimesteps, ByControl, MaxLateness)
	p.Whole("label_lateness_timesteps", c.LabelLatenessTimesteps, ByControl, MaxLateness)
	p.OneOf("late", c.Late, Reopen, DeadLetter)
	p.Duration("reopen_window", c.ReopenWindow, 0, maxWindow)
	p.Whole("reopen_timesteps", c.ReopenTimesteps, AnyTimestep, maxJump)
	p.Whole("first_timestep", int(c.FirstTimestep), 0, int(maxTimestep))
	p.Whole("max_timestep_jump", c.MaxTimestepJump, 1, maxJump)
	late := max(c.AllowedLatenessTimesteps, c.LabelLatenessTimesteps)
	if c.MaxTimestepJump >= 1 && c.MaxTimestepJump <= late {
		// What a partition has come to is that far behind its newest record.
		p.Bad("max_timestep_jump", c.MaxTimestepJump, "more than %d, the lateness that is allowed", late)
	}
	p.Whole("max_waiting", c.MaxWaiting, 1, maxWaiting)
	p.Whole("max_open_timesteps", c.MaxOpenTimesteps, 1, maxJump)
	p.AtLeast("feature_count", c.FeatureCount, 0)
	p.AtLeast("open_stores", c.OpenStores, 1)
	p.AtLeast("rewrite_at_once", c.RewriteAtOnce, 1)
	p.AtLeast("row_file_bytes", c.RowFileBytes, 1)
	p.AtLeast("commits_ahead", c.CommitsAhead, 0)
	return p.Err()
}

// Options say what a Store works on. Secret and partition counts are compared
// with the stored ones when it is opened again.
type Options struct {
	Config
	// Secret makes the pseudonyms.
	Secret lethe.Secret
	// FS is the file system that everything is kept on, as vfs.Default is.
	FS vfs.FS
	// TransactionPartitions and LabelPartitions are the streams' partition
	// counts, at least 1.
	TransactionPartitions int
	LabelPartitions       int
	// Redact takes features out of records that are kept as they came. Without it their
	// values are not kept when features are erased.
	Redact Redactor
}

// Validate reports every value that is out of bounds.
func (o Options) Validate() error {
	p := check.Of(o.Config.Validate())
	p.That(o.FS != nil, "fs", nil, "a file system")
	p.That(o.Secret != (lethe.Secret{}), "secret", "all zero", "a key")
	p.AtLeast("transaction_partitions", o.TransactionPartitions, 1)
	p.AtLeast("label_partitions", o.LabelPartitions, 1)
	return p.Err()
}

func (o Options) lateness(s Stream) int {
	if s == Labels {
		return o.LabelLatenessTimesteps
	}
	return o.AllowedLatenessTimesteps
}

var (
	// ErrCorrupt marks stored bytes that cannot be what was written. The store
	// has to be rebuilt from the topics.
	ErrCorrupt = stored.ErrCorrupt

	// ErrIncompatible is returned by Open when the store was written with another
	// secret, partition count or feature count. Open it with the options it was
	// written with, or rebuild it from the topics.
	ErrIncompatible = errors.New("snapshot store was written with other options")

	// ErrUnknownTimestep is returned for a timestep that has no transaction. It is
	// a programmer's error: see Timesteps.
	ErrUnknownTimestep = errors.New("timestep is not known")

	// ErrNotReady is returned for a step that is not due: a timestep that is not
	// listed by Ready, or one that is not closed yet. Consume on and try again.
	ErrNotReady = errors.New("timestep is not ready")

	// ErrStale is returned by a Batch that is used after Commit, or after another
	// call changed the store. Nothing of it was stored: begin again at Offsets.
	ErrStale = errors.New("batch is stale")
)
