package snapshot

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
)

// defaultOpenStores holds the timestep being closed, the one being settled and
// two that late duplicates look into.
const defaultOpenStores = 4

// DefaultMaxTimestepJump is the jump that is allowed if no other is named.
const DefaultMaxTimestepJump = 1000

// Options say how a Store works. Those written into the store are compared
// when it is opened again.
type Options struct {
	// Secret makes the pseudonyms. It is compared with the stored one.
	Secret lethe.Secret
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// TransactionPartitions and LabelPartitions are the streams' partition
	// counts, at least 1. They are compared with the stored ones.
	TransactionPartitions int
	LabelPartitions       int
	// AllowedLateness is by how many timesteps a transaction or payment may come
	// behind the newest of its partition. Negative: only control records end a
	// timestep.
	AllowedLateness int
	// LabelLateness is the same for labels.
	LabelLateness int
	// FirstTimestep is where every watermark starts: records before it are late.
	// A partition that has been read from already keeps its watermark.
	FirstTimestep lethe.Timestep
	// MaxTimestepJump is by how much a timestep may exceed its partition's
	// watermark; a record beyond it is refused and ends nothing. It must exceed
	// both latenesses, by which watermarks stay behind. 0 means 1,000.
	MaxTimestepJump int
	// FeatureCount is the number of features of every transaction. 0 takes that
	// of the first one, which depends on how partitions interleave.
	FeatureCount int
	// OpenStores bounds how many closed timesteps are held open; 0 means 4.
	OpenStores int
}

// EnsureDefaults returns a copy with the unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.MaxTimestepJump == 0 {
		o.MaxTimestepJump = DefaultMaxTimestepJump
	}
	if o.OpenStores == 0 {
		o.OpenStores = defaultOpenStores
	}
	return o
}

// Validate reports every value that is out of bounds.
func (o Options) Validate() error {
	var errs []error
	if o.Secret == (lethe.Secret{}) {
		errs = append(errs, errors.New("secret is all zero"))
	}
	if o.TransactionPartitions < 1 {
		errs = append(errs, fmt.Errorf("transaction partitions: %d, at least 1", o.TransactionPartitions))
	}
	if o.LabelPartitions < 1 {
		errs = append(errs, fmt.Errorf("label partitions: %d, at least 1", o.LabelPartitions))
	}
	if o.FirstTimestep < 0 || o.FirstTimestep > maxTimestep {
		errs = append(errs, fmt.Errorf("first timestep: %d, 0 to %d", o.FirstTimestep, maxTimestep))
	}
	if least := max(0, o.AllowedLateness, o.LabelLateness) + 1; o.MaxTimestepJump < least {
		errs = append(errs, fmt.Errorf("max timestep jump: %d, at least %d, beyond both latenesses", o.MaxTimestepJump, least))
	}
	if o.FeatureCount < 0 {
		errs = append(errs, fmt.Errorf("feature count: %d, at least 0", o.FeatureCount))
	}
	if o.OpenStores < 1 {
		errs = append(errs, fmt.Errorf("open stores: %d, at least 1", o.OpenStores))
	}
	return errors.Join(errs...)
}

func (o Options) partitions(s Stream) int {
	if s == Labels {
		return o.LabelPartitions
	}
	return o.TransactionPartitions
}

func (o Options) lateness(s Stream) int {
	if s == Labels {
		return o.LabelLateness
	}
	return o.AllowedLateness
}
