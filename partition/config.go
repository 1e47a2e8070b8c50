package partition

import (
	"fmt"
	"math"

	"lethe"
	"lethe/internal/check"
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/method"
	"lethe/partition/refine"
)

// maxShards limits the memory that a typing error can request. The paper uses up to 100.
const maxShards = 1 << 16

// Config configures a partition. Start from Defaults or DefaultsOf.
type Config struct {
	// Method is one of Methods, or the name of Other.
	Method string `yaml:"method" help:"How timesteps are cut: gpfb-fast, random or independent."`
	// Shards is the number of shards, 1 to 65536.
	Shards int `yaml:"shards" help:"Number of shards; changing it means building anew."`
	// Seed keys every random draw.
	Seed uint64 `yaml:"-" help:"Seed of every draw."`
	// Timestep is the graph's timestep. It rotates the shard numbers, see turn.
	Timestep lethe.Timestep `yaml:"-"`

	// Other, if set, proposes shards in place of one of Methods: a method to compare with.
	Other method.Method `yaml:"-"`

	// Nodes are the names by which independent chooses shards, one per node. Without names, a node's
	// number is used.
	Nodes []lethe.Pseudonym `yaml:"-"`

	// Alpha weighs balance and fairness against the cut in the objective of GPFB. The paper searches
	// 1e-4 to 1e-2. The default 0.01 cut the fewest edges of 0.001, 0.01 and 0.1 on Cora, CiteSeer
	// and Bitcoin-OTC. Quotas enforce balance and fairness in any case.
	Alpha float64 `yaml:"-" help:"Weight of balance and fairness against the cut in gpfb."`
	// MaxShift bounds alpha's part of the iteration's shift: on a graph whose largest class has n
	// nodes, alpha is at most MaxShift/n. By default 8; a larger value would stall the iteration.
	// See WithAlpha.
	MaxShift float64 `yaml:"-"`
	// Sweeps bounds the sweeps of methods that iterate.
	Sweeps int `yaml:"-" help:"Most sweeps of a method that iterates."`
	// Tolerance ends GPFB once a sweep raises the objective by less than this share of the number of
	// shards.
	Tolerance float64 `yaml:"-"`

	// Refine lowers the cut by moves and swaps. Methods that do not fill quotas are never refined.
	Refine bool `yaml:"refine" help:"Lower the cut by swapping nodes between shards afterwards."`
	// RefineSweeps is the number of annealing sweeps over the nodes; coarser levels get as many as
	// take the same time.
	RefineSweeps refine.Sweeps `yaml:"-"`
	// Slack is how far a shard may deviate from its even share of every class, and of all nodes,
	// where that lowers the cut. With 0, counts and sizes differ by at most one; with slack, by at
	// most 1 + 2 Slack.
	Slack int `yaml:"-" help:"Nodes by which a shard's classes and size may differ from even where that lowers the cut."`
}

// Defaults returns GPFB-Fast under quotas, refined, with 20 shards and the weights that cut the
// fewest edges.
func Defaults() Config { return DefaultsOf(MethodGPFBFast) }

// DefaultsOf is Defaults for a method.
func DefaultsOf(method string) Config {
	c := Config{
		Shards: 20, Method: method, Alpha: 0.01, MaxShift: 8,
		Tolerance: 3e-4, Refine: true, RefineSweeps: refine.DefaultSweeps(),
	}
	if method == MethodGPFBFast {
		c.Sweeps = gpfb.DefaultSweeps
	}
	return c
}

// WithAlpha returns the configuration with an alpha that is not reduced for any graph.
func (c Config) WithAlpha(alpha float64) Config {
	c.Alpha, c.MaxShift = alpha, math.Inf(1)
	return c
}

// GPFB returns the part of the configuration that GPFB takes.
func (c Config) GPFB() gpfb.Config {
	return gpfb.Config{Alpha: c.Alpha, MaxShift: c.MaxShift, Sweeps: c.Sweeps, Tolerance: c.Tolerance}
}

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("shards", c.Shards, 1, maxShards)
	if c.Other == nil {
		p.OneOf("method", c.Method, Methods()...)
	}
	p.That(finite(c.Alpha), "alpha", c.Alpha, "a number of at least 0")
	p.That(c.MaxShift > 0, "max_shift", c.MaxShift, "a number above 0")
	p.AtLeast("sweeps", c.Sweeps, 0)
	p.That(finite(c.Tolerance), "tolerance", c.Tolerance, "a number of at least 0")
	p.AtLeast("refine_sweeps", c.RefineSweeps.Least, 0)
	p.AtLeast("refine_sweeps", c.RefineSweeps.Most, c.RefineSweeps.Least)
	p.AtLeast("slack", c.Slack, 0)
	return p.Err()
}

// fit reports whether the configuration suits the graph.
func (c Config) fit(g *graph.Graph) error {
	if len(c.Nodes) != 0 && len(c.Nodes) != g.N() {
		return fmt.Errorf("%d names for %d nodes", len(c.Nodes), g.N())
	}
	return nil
}

// finite reports whether a weight is finite and at least 0.
func finite(weight float64) bool { return weight >= 0 && !math.IsInf(weight, 1) }
