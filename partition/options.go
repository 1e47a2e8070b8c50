package partition

import (
	"errors"
	"fmt"
	"math"

	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/refine"
)

// The ways to turn what a method found into shards.
const (
	// AssignQuotas fills quotas, so that shards are even in size and classes.
	AssignQuotas = "quotas"
	// AssignPlain takes what the paper takes: k-means of the embedding for
	// gpfb-fast, the indicator matrix for gpfb-sr, and for random shards of even
	// size whatever the classes. It promises nothing else and is there to compare
	// with.
	AssignPlain = "plain"
)

// maxShards keeps a slip of the keyboard from asking for all memory. The paper
// uses up to 100.
const maxShards = 1 << 16

// Options says how to partition. The zero value of every field but Shards takes
// the default that EnsureDefaults describes.
type Options struct {
	// Shards is the number of shards, 1 to 65536.
	Shards int
	// Method is one of Methods. Default: MethodGPFBFast.
	Method string
	// Seed keys every random draw.
	Seed uint64

	// Assign is how GPFB and random end: AssignQuotas (default) or AssignPlain.
	Assign string
	// Embedding is what bekm clusters, one row per node. nil takes an embedding
	// of the graph's structure.
	Embedding *kmeans.Points

	// Alpha weighs balance and fairness against the cut in the objective of
	// GPFB. The paper searches 1e-4 to 1e-2. Default: 0.01, which cut the
	// fewest edges of 0.001, 0.01 and 0.1 on Cora, CiteSeer and Bitcoin-OTC, but
	// no more than 8 over the size of the largest class, beyond which the shift
	// that alpha needs would bring the iteration to a halt. Quotas enforce
	// balance and fairness anyway.
	Alpha float64
	// Beta ties the embedding of gpfb-sr to its assignment. The paper searches 1
	// to 5, and its code takes 0.01. Default 0.05: from 0.5 on, assignments under
	// quotas cut ever more edges on Cora, CiteSeer and Bitcoin-OTC.
	Beta float64
	// Sweeps bounds the sweeps of methods that iterate. Default: 10 for GPFB,
	// 100 for blpa, 20 for bekm.
	Sweeps int
	// Tolerance ends GPFB once a sweep raises the objective by
	// less than this share of the number of shards, times twice the mean degree if
	// unnormalised. Default 3e-4.
	Tolerance float64
	// Unnormalised takes W - D, as Algorithm 1 prints, in place of the default
	// D^-1/2 W D^-1/2. A node of high degree then slows the iteration down,
	// since the shift has to exceed twice its degree.
	Unnormalised bool

	// NoRefine leaves out the swaps that lower the cut. Methods that do not fill
	// quotas are never refined.
	NoRefine bool
	// RefineSweeps is the number of annealing sweeps over the nodes; coarser
	// levels get as many as cost the same. The default falls with the number of
	// nodes, see refine.DefaultSweeps.
	RefineSweeps int
	// Slack is how many nodes a shard may lie above or below its even share of
	// every class, and of all nodes, where that lowers the cut. Default 0:
	// counts and sizes differ by at most one. With slack they may differ by
	// 1 + 2 Slack.
	Slack int
}

// EnsureDefaults returns the options with every unset field filled in for a
// graph.
func (o Options) EnsureDefaults(g *graph.Graph) Options {
	if o.Method == "" {
		o.Method = MethodGPFBFast
	}
	if o.Alpha == 0 {
		o.Alpha = min(0.01, 8/float64(max(1, g.LargestClass())))
	}
	if o.Assign == "" {
		o.Assign = AssignQuotas
	}
	if o.Beta == 0 {
		o.Beta = 0.05
	}
	if o.Sweeps == 0 {
		o.Sweeps = defaultSweeps(o.Method)
	}
	if o.Tolerance == 0 {
		o.Tolerance = 3e-4
	}
	if o.RefineSweeps == 0 {
		o.RefineSweeps = refine.DefaultSweeps(g.N())
	}
	return o
}

// Validate reports everything that is wrong with the options at once.
func (o Options) Validate() error {
	var errs []error
	if o.Shards < 1 || o.Shards > maxShards {
		errs = append(errs, fmt.Errorf("shards is %d, want 1 to %d", o.Shards, maxShards))
	}
	if _, err := o.method(); err != nil {
		errs = append(errs, err)
	}
	if o.Assign != AssignQuotas && o.Assign != AssignPlain {
		errs = append(errs, fmt.Errorf("assign is %q, want %s or %s", o.Assign, AssignQuotas, AssignPlain))
	}
	for _, weight := range []struct {
		name  string
		value float64
	}{{"alpha", o.Alpha}, {"beta", o.Beta}, {"tolerance", o.Tolerance}} {
		if !(weight.value >= 0) || math.IsInf(weight.value, 1) {
			errs = append(errs, fmt.Errorf("%s is %v, want a number of at least 0", weight.name, weight.value))
		}
	}
	if o.Sweeps < 0 {
		errs = append(errs, fmt.Errorf("sweeps is %d, want at least 0", o.Sweeps))
	}
	if o.RefineSweeps < 0 {
		errs = append(errs, fmt.Errorf("refine sweeps is %d, want at least 0", o.RefineSweeps))
	}
	if o.Slack < 0 {
		errs = append(errs, fmt.Errorf("slack is %d, want at least 0", o.Slack))
	}
	return errors.Join(errs...)
}

// fit reports whether the options suit the graph.
func (o Options) fit(g *graph.Graph) error {
	if o.Embedding == nil {
		return nil
	}
	return o.Embedding.Check(g.N())
}

// gpfb reports whether the method is a form of GPFB.
func (o Options) gpfb() bool { return o.Method == MethodGPFBFast || o.Method == MethodGPFBSR }
