package repair

import (
	"lethe/internal/check"
	"lethe/partition/onehop"
)

// The ways to fill in a missing neighbour: a stub's features are its owner's times λ, where λ is
// drawn for mixup, 0 for zero and 1 for mirror. With none, neighbourhoods stay cut (Wang, Huai
// and Wang 2023, section 4.2).
const (
	MixUp  = "mixup"
	Zero   = "zero"
	Mirror = "mirror"
	None   = "none"
)

// Methods returns them.
func Methods() []string { return []string{MixUp, Zero, Mirror, None} }

// Config configures how Slices compensates for cut edges.
type Config struct {
	// Seed is the key of λ.
	Seed uint64 `yaml:"-"`
	// Method is MixUp, Zero, Mirror or None.
	Method string `yaml:"method" help:"What stands for lost neighbours: mixup, zero, mirror or none."`
	// Tau bounds λ of mixup, which is uniform in [0, Tau).
	Tau float64 `yaml:"tau" help:"Upper bound of the factor that mixup draws."`
	// MinStubs is the minimum number of stubs per node, even if its edges are not cut. Extra stubs
	// act as augmentation and need no other shard's data. With 0 there is exactly one stub per cut
	// edge.
	MinStubs int `yaml:"min_stubs" help:"Least number of stubs per node."`
	// OneHop adds features of the node's neighbourhood in the whole snapshot to every row, including
	// cut edges. A slice then contains information about neighbours in other shards: erasing a node
	// changes exactly the slices that hold it or a stub of it, so scopes stubs and partition stay
	// exact, and scope shard is impossible.
	OneHop onehop.Mode `yaml:"-"`
}

// Defaults returns mixup with one stub per missing neighbour and no one-hop features. On a stream
// more stubs hardly help and cost time, see docs/partition.md.
func Defaults() Config { return Config{Method: MixUp, Tau: 1} }

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	var p check.Problems
	p.OneOf("method", c.Method, Methods()...)
	p.Above("tau", c.Tau, 0, 1000)
	p.AtLeast("min_stubs", c.MinStubs, 0)
	p.That(c.Method != None || c.MinStubs <= 0, "min_stubs", c.MinStubs, "0 with method %s", None)
	p.That(c.OneHop <= onehop.Directed, "one_hop", uint8(c.OneHop), "none, undirected or directed")
	return p.Err()
}
