package partition

import (
	"errors"
	"fmt"
	"math"
)

// The ways to fill in a missing neighbour: a stub's features are its owner's
// times λ, where λ is drawn for mixup, 0 for zero and 1 for mirror. None leaves
// the neighbourhoods cut (Wang, Huai and Wang 2023, section 4.2).
const (
	RepairMixUp  = "mixup"
	RepairZero   = "zero"
	RepairMirror = "mirror"
	RepairNone   = "none"
)

// RepairOptions says how Slices makes up for cut edges.
type RepairOptions struct {
	// Seed keys λ.
	Seed uint64
	// Method is RepairMixUp (default), RepairZero, RepairMirror or RepairNone.
	Method string
	// Tau bounds λ of mixup, which is uniform in [0, Tau). Default 1.
	Tau float64
	// MinStubs gives every node at least that many stubs, whether its edges are
	// cut or not. They act as augmentation and need no other shard's data. 0
	// means: one stub per cut edge and no more.
	MinStubs int
	// OneHop joins to every row what surrounds its node in the whole snapshot,
	// cut edges included (lethe.OneHop). A slice then holds something of its
	// neighbours in other shards: erasing a node changes exactly the slices that
	// hold it or a stub for it, so scopes stubs and partition stay exact, and
	// scope shard is not to be had.
	OneHop bool
	// OneHopDirected keeps payers and payees apart (lethe.DirectedOneHop). It
	// needs OneHop.
	OneHopDirected bool
}

// EnsureDefaults returns the options with every unset field filled in.
func (o RepairOptions) EnsureDefaults() RepairOptions {
	if o.Method == "" {
		o.Method = RepairMixUp
	}
	if o.Tau == 0 {
		o.Tau = 1
	}
	return o
}

// Validate reports everything that is wrong with the options at once.
func (o RepairOptions) Validate() error {
	var errs []error
	switch o.Method {
	case RepairMixUp, RepairZero, RepairMirror:
	case RepairNone:
		if o.MinStubs > 0 {
			errs = append(errs, fmt.Errorf("min stubs is %d, want 0 with repair method %s", o.MinStubs, RepairNone))
		}
	case RepairTruth:
		errs = append(errs, fmt.Errorf("repair method %s is an ablation that puts other shards' data into stubs: want one of %s, %s, %s, %s",
			RepairTruth, RepairMixUp, RepairZero, RepairMirror, RepairNone))
	default:
		errs = append(errs, fmt.Errorf("repair method is %q, want one of %s, %s, %s, %s",
			o.Method, RepairMixUp, RepairZero, RepairMirror, RepairNone))
	}
	if !(o.Tau > 0) || o.Tau > math.MaxFloat32 {
		errs = append(errs, fmt.Errorf("tau is %v, want a number above 0", o.Tau))
	}
	if o.MinStubs < 0 {
		errs = append(errs, fmt.Errorf("min stubs is %d, want at least 0", o.MinStubs))
	}
	if o.OneHopDirected && !o.OneHop {
		errs = append(errs, errors.New("one hop is directed but off: want both or neither"))
	}
	return errors.Join(errs...)
}
