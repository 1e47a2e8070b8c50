package partition

import (
	"errors"
	"fmt"
	"math"
)

// The methods that are built. MethodGPFBFast is the default.
const (
	MethodGPFBFast = "gpfb-fast"
	MethodRandom   = "random"
)

// ErrMethod marks a method that does not exist or is not built yet. The caller
// should choose one of those that the error lists.
var ErrMethod = errors.New("no such partition method")

// maxShards keeps a slip of the keyboard from asking for all memory. The paper
// uses up to 100.
const maxShards = 1 << 16

// Options says how to partition. The zero value of every field but Shards takes
// the default that EnsureDefaults describes.
type Options struct {
	// Shards is the number of shards, 1 to 65536.
	Shards int
	// Method is MethodGPFBFast (default) or MethodRandom.
	Method string
	// Seed keys every random draw.
	Seed uint64

	// Alpha weighs balance and fairness against the cut in the objective of
	// gpfb-fast. The paper searches 1e-4 to 1e-2. Default: 0.01, which cut the
	// fewest edges of 0.001, 0.01 and 0.1 on Cora, CiteSeer and Bitcoin-OTC, but
	// no more than 8 over the size of the largest class, beyond which the shift
	// that alpha needs would bring the iteration to a halt. Quotas enforce
	// balance and fairness anyway.
	Alpha float64
	// Sweeps bounds the power iterations of gpfb-fast. Default 60: more did
	// not lower the cut after refinement on Cora, CiteSeer or Bitcoin-OTC.
	Sweeps int
	// Tolerance ends the power iteration once a sweep raises the objective by
	// less than this share of what the cut part of it can vary by: the number of
	// shards, times 2 max degree if unnormalised. Default 3e-4.
	Tolerance float64
	// Unnormalised takes W - D, as Algorithm 1 prints, in place of the default
	// D^-1/2 W D^-1/2. A node of high degree then slows the iteration down,
	// since the shift has to exceed twice its degree.
	Unnormalised bool

	// NoRefine leaves out the swaps that lower the cut.
	NoRefine bool
	// RefineSweeps is the number of annealing sweeps over the nodes. The default
	// falls with the number of nodes, see defaultRefineSweeps.
	RefineSweeps int
}

// EnsureDefaults returns the options with every unset field filled in for a
// graph.
func (o Options) EnsureDefaults(g *Graph) Options {
	if o.Method == "" {
		o.Method = MethodGPFBFast
	}
	if o.Alpha == 0 {
		o.Alpha = min(0.01, 8/float64(max(1, g.largestClass())))
	}
	if o.Sweeps == 0 {
		o.Sweeps = 60
	}
	if o.Tolerance == 0 {
		o.Tolerance = 3e-4
	}
	if o.RefineSweeps == 0 {
		o.RefineSweeps = defaultRefineSweeps(g.N())
	}
	return o
}

// Validate reports everything that is wrong with the options at once.
func (o Options) Validate() error {
	var errs []error
	if o.Shards < 1 || o.Shards > maxShards {
		errs = append(errs, fmt.Errorf("shards is %d, want 1 to %d", o.Shards, maxShards))
	}
	if _, err := methodNamed(o.Method); err != nil {
		errs = append(errs, err)
	}
	if !(o.Alpha >= 0) || math.IsInf(o.Alpha, 1) {
		errs = append(errs, fmt.Errorf("alpha is %v, want a number of at least 0", o.Alpha))
	}
	if !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1) {
		errs = append(errs, fmt.Errorf("tolerance is %v, want a number of at least 0", o.Tolerance))
	}
	if o.Sweeps < 0 {
		errs = append(errs, fmt.Errorf("sweeps is %d, want at least 0", o.Sweeps))
	}
	if o.RefineSweeps < 0 {
		errs = append(errs, fmt.Errorf("refine sweeps is %d, want at least 0", o.RefineSweeps))
	}
	return errors.Join(errs...)
}

// defaultRefineSweeps gives small graphs the sweeps they need to come within a
// few hundredths of the best cut known, and keeps the work of large ones about
// linear in the nodes: 10 million node visits, but never below 20 sweeps.
func defaultRefineSweeps(n int) int {
	const most, least, visits = 700, 20, 10_000_000
	if n == 0 {
		return least
	}
	return max(least, min(most, visits/n))
}
