package snapshot

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/check"
)

// ByControl as a lateness ends a timestep only when a control record says so.
const ByControl = -1

// maxLateness and maxJump keep sums with timesteps far from overflow.
const maxLateness, maxJump = 1_000_000, 1_000_000_000

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
	// FirstTimestep is where every watermark starts: records before it are late.
	// A partition that has been read from already keeps its watermark.
	FirstTimestep lethe.Timestep `yaml:"first_timestep" help:"Where the stream begins; earlier records are late."`
	// MaxTimestepJump is by how much a timestep may exceed its partition's
	// watermark; a record beyond it is refused and ends nothing, for one wrong
	// number would make late whatever follows. It must exceed both latenesses, by
	// which watermarks stay behind.
	MaxTimestepJump int `yaml:"max_timestep_jump" help:"How far a record may be ahead of its partition, in timesteps."`
	// FeatureCount is the number of features of every transaction. 0 takes that
	// of the first one, which depends on how partitions interleave.
	FeatureCount int `yaml:"feature_count" help:"Features of every transaction; 0 lets the first one fix it."`
	// OpenStores bounds how many closed timesteps are held open.
	OpenStores int `yaml:"-"`
}

// Defaults returns the configuration of a stream whose labels are settled by
// control records: settling by lateness would train on a timestep whose labels
// are still on their way, and only the sender knows when they are in. The open
// stores hold the timestep being closed, the one being settled and two that late
// duplicates look into.
func Defaults() Config {
	return Config{LabelLatenessTimesteps: ByControl, MaxTimestepJump: 1000, OpenStores: 4}
}

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("allowed_lateness_timesteps", c.AllowedLatenessTimesteps, ByControl, maxLateness)
	p.Whole("label_lateness_timesteps", c.LabelLatenessTimesteps, ByControl, maxLateness)
	p.Whole("first_timestep", int(c.FirstTimestep), 0, int(maxTimestep))
	p.Whole("max_timestep_jump", c.MaxTimestepJump, 1, maxJump)
	late := max(c.AllowedLatenessTimesteps, c.LabelLatenessTimesteps)
	if c.MaxTimestepJump >= 1 && c.MaxTimestepJump <= late {
		// What a partition has come to is that far behind its newest record.
		p.Bad("max_timestep_jump", c.MaxTimestepJump, "more than %d, the lateness that is allowed", late)
	}
	p.AtLeast("feature_count", c.FeatureCount, 0)
	p.AtLeast("open_stores", c.OpenStores, 1)
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
