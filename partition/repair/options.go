package repair

import (
	"errors"
	"fmt"
	"math"

	"lethe/partition/onehop"
)

// The ways to fill in a missing neighbour: a stub's features are its owner's
// times λ, where λ is drawn for mixup, 0 for zero and 1 for mirror. None leaves
// the neighbourhoods cut (Wang, Huai and Wang 2023, section 4.2).
const (
	MixUp  = "mixup"
	Zero   = "zero"
	Mirror = "mirror"
	None   = "none"
)

// Options says how Slices makes up for cut edges.
type Options struct {
	// Seed keys λ.
	Seed uint64
	// Method is MixUp (default), Zero, Mirror or None.
	Method string
	// Tau bounds λ of mixup, which is uniform in [0, Tau). Default 1.
	Tau float64
	// MinStubs gives every node at least that many stubs, whether its edges are
	// cut or not. They act as augmentation and need no other shard's data. 0
	// means: one stub per cut edge and no more.
	MinStubs int
	// OneHop joins to every row what surrounds its node in the whole snapshot, cut
	// edges included. A slice then holds something of its neighbours in other
	// shards: erasing a node changes exactly the slices that hold it or a stub for
	// it, so scopes stubs and partition stay exact, and scope shard is not to be had.
	OneHop onehop.Mode
}

// EnsureDefaults returns the options with every unset field filled in.
func (o Options) EnsureDefaults() Options {
	if o.Method == "" {
		o.Method = MixUp
	}
	if o.Tau == 0 {
		o.Tau = 1
	}
	return o
}

// Validate reports everything that is wrong with the options at once.
func (o Options) Validate() error {
	var errs []error
	switch o.Method {
	case MixUp, Zero, Mirror:
	case None:
		if o.MinStubs > 0 {
			errs = append(errs, fmt.Errorf("min stubs is %d, want 0 with repair method %s", o.MinStubs, None))
		}
	case Truth:
		errs = append(errs, fmt.Errorf("repair method %s is an ablation that puts other shards' data into stubs: want one of %s, %s, %s, %s",
			Truth, MixUp, Zero, Mirror, None))
	default:
		errs = append(errs, fmt.Errorf("repair method is %q, want one of %s, %s, %s, %s",
			o.Method, MixUp, Zero, Mirror, None))
	}
	if !(o.Tau > 0) || o.Tau > math.MaxFloat32 {
		errs = append(errs, fmt.Errorf("tau is %v, want a number above 0", o.Tau))
	}
	if o.MinStubs < 0 {
		errs = append(errs, fmt.Errorf("min stubs is %d, want at least 0", o.MinStubs))
	}
	if o.OneHop > onehop.Directed {
		errs = append(errs, fmt.Errorf("one hop is %d, want none, undirected or directed", o.OneHop))
	}
	return errors.Join(errs...)
}
