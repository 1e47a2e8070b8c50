package snapshot

import (
	"errors"
	"time"

	"lethe"
	"lethe/internal/check"
	"lethe/snapshot/stored"
)

// How late records are handled.
const (
	// Reopen accepts them and rewrites their timestep.
	Reopen = "reopen"
	// DeadLetter rejects them.
	DeadLetter = "dlq"
)

// AnyTimestep as Config.ReopenTimesteps accepts late records of any age.
const AnyTimestep = -1

// ByControl as a lateness means that only a control record ends a timestep.
const ByControl = -1

// MaxLateness bounds both latenesses. Together with maxJump it keeps arithmetic on timesteps far
// from overflow.
const MaxLateness, maxJump = 1_000_000, 1_000_000_000

// maxWaiting is the number of keys that fit into a few gigabytes of memory.
const maxWaiting = 100_000_000

// maxWindow is far longer than any burst.
const maxWindow = 24 * time.Hour

// Config defines which records a stream accepts and when its timesteps end.
type Config struct {
	// AllowedLatenessTimesteps is how many timesteps a transaction or payment may be behind the
	// newest one of its partition, or ByControl.
	AllowedLatenessTimesteps int `yaml:"allowed_lateness_timesteps" help:"How far behind its partition a record may come."`
	// LabelLatenessTimesteps is the same for labels. A timestep settles after it.
	LabelLatenessTimesteps int `yaml:"label_lateness_timesteps" help:"The same for labels; -1: control records alone."`
	// Late is how a record of a timestep that its partition has passed is handled: Reopen or
	// DeadLetter.
	Late string `yaml:"late" help:"Late records: reopen (their timestep) or dlq."`
	// ReopenWindow is how long late records of closed timesteps may wait for more of them, so that a
	// burst causes one replay. A close or settle meanwhile ends the wait. The owner of a Store
	// enforces the window.
	ReopenWindow time.Duration `yaml:"reopen_window" help:"How long late records wait for others, then reopen a timestep."`
	// ReopenTimesteps is how far a late record may be behind the newest timestep that its partition
	// has ended, or AnyTimestep. Older records are rejected.
	ReopenTimesteps int `yaml:"reopen_timesteps" help:"How far back late records reopen timesteps; -1: all."`
	// FirstTimestep is the lowest watermark of every partition: earlier records are late and reopen
	// nothing. It may be raised while no earlier timestep is stored; lowering it does not lower stored watermarks.
	FirstTimestep lethe.Timestep `yaml:"first_timestep" help:"Where the stream begins; earlier records are late."`
	// MaxTimestepJump is how far a timestep may exceed its partition's watermark. A record beyond it
	// is rejected and does not move the watermark, because one wrong number would make all later
	// records late. It must exceed both latenesses, by which watermarks lag.
	MaxTimestepJump int `yaml:"max_timestep_jump" help:"How far a record may be ahead of its partition, in timesteps."`
	// MaxWaiting bounds the payments, and separately the labels, that wait for missing transactions,
	// including those of timesteps that are over. Further ones are rejected.
	MaxWaiting int `yaml:"max_waiting" help:"Bound of the payments, and of the labels, whose transactions have not come."`
	// MaxOpenTimesteps bounds the open timesteps, not counting those that are ready to close, once
	// the backlog has been read. Records that would begin another timestep are rejected.
	MaxOpenTimesteps int `yaml:"max_open_timesteps" help:"Bound of the timesteps that are open at a time."`
	// FeatureCount is the number of features of every transaction; with 0, the owner of a Store fixes it.
	FeatureCount int `yaml:"feature_count" help:"Features of every transaction; 0: as many as the first one has."`
	// RewriteAtOnce is how many graphs an erasure rewrites in parallel: all are in memory, and each waits for the disk.
	RewriteAtOnce int `yaml:"-"`
	// RowFileBytes is the size from which the transactions that one batch brings for an open timestep are written to a
	// file instead of one by one; that costs one more fsync.
	RowFileBytes int `yaml:"-"`
}

// Defaults returns the configuration of a stream whose labels are settled by control records:
// settling by lateness would train on timesteps whose labels are incomplete, and only the sender
// knows when all have been sent.
func Defaults() Config {
	const rowFileBytes = 512 << 10
	return Config{
		LabelLatenessTimesteps: ByControl, Late: Reopen, ReopenWindow: 30 * time.Second, ReopenTimesteps: AnyTimestep,
		MaxTimestepJump: 1000, MaxWaiting: 100_000, MaxOpenTimesteps: 100, RewriteAtOnce: 4,
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
	p.Whole("first_timestep", int(c.FirstTimestep), 0, lethe.MaxTimestep)
	p.Whole("max_timestep_jump", c.MaxTimestepJump, 1, maxJump)
	late := max(c.AllowedLatenessTimesteps, c.LabelLatenessTimesteps)
	if c.MaxTimestepJump >= 1 && c.MaxTimestepJump <= late {
		// Watermarks lag behind the newest record by the lateness.
		p.Bad("max_timestep_jump", c.MaxTimestepJump, "more than %d, the lateness that is allowed", late)
	}
	p.Whole("max_waiting", c.MaxWaiting, 1, maxWaiting)
	p.Whole("max_open_timesteps", c.MaxOpenTimesteps, 1, maxJump)
	p.AtLeast("feature_count", c.FeatureCount, 0)
	p.AtLeast("rewrite_at_once", c.RewriteAtOnce, 1)
	p.AtLeast("row_file_bytes", c.RowFileBytes, 1)
	return p.Err()
}

var (
	// ErrCorrupt marks stored bytes that this package cannot have written. The store must be rebuilt
	// from the topics.
	ErrCorrupt = stored.ErrCorrupt

	// ErrIncompatible is returned by Open when the store was written with another secret, partition
	// count or feature count. Open it with the original options, or rebuild it from the topics.
	ErrIncompatible = errors.New("snapshot store was written with other options")

	// ErrUnknownTimestep is returned for a timestep without a transaction. It is a programming
	// error: see Timesteps.
	ErrUnknownTimestep = errors.New("timestep is not known")

	// ErrNotReady is returned for a step that is not due: the timestep is not listed by Ready, or
	// is not closed yet. Consume more records and try again.
	ErrNotReady = errors.New("timestep is not ready")

	// ErrStale is returned by a Batch that is used after Commit, or after another call changed the
	// store. Nothing of it was stored: begin a new batch at Offsets.
	ErrStale = errors.New("batch is stale")
)
