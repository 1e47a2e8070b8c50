package repair

import (
	"strings"

	"lethe/internal/check"
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

// Methods lists them.
func Methods() []string { return []string{MixUp, Zero, Mirror, None} }

// Config says how Slices makes up for cut edges.
type Config struct {
	// Seed keys λ.
	Seed uint64 `yaml:"-"`
	// Method is MixUp, Zero, Mirror or None.
	Method string `yaml:"method" help:"What stands for lost neighbours: mixup, zero, mirror or none."`
	// Tau bounds λ of mixup, which is uniform in [0, Tau).
	Tau float64 `yaml:"tau" help:"Upper bound of the factor that mixup draws."`
	// MinStubs gives every node at least that many stubs, whether its edges are
	// cut or not. They act as augmentation and need no other shard's data. 0
	// means: one stub per cut edge and no more.
	MinStubs int `yaml:"min_stubs" help:"Least number of stubs per node."`
	// OneHop joins to every row what surrounds its node in the whole snapshot, cut
	// edges included. A slice then holds something of its neighbours in other
	// shards: erasing a node changes exactly the slices that hold it or a stub for
	// it, so scopes stubs and partition stay exact, and scope shard is impossible.
	OneHop onehop.Mode `yaml:"-"`
}

// Defaults is mixup with one stub per missing neighbour and no one-hop features. On
// a stream more stubs hardly help and cost time, see docs/partition.md.
func Defaults() Config { return Config{Method: MixUp, Tau: 1} }

// Validate reports everything that is wrong with the configuration at once.
func (c Config) Validate() error {
	var p check.Problems
	if c.Method == Truth {
		p.Bad("method", c.Method, "one of %s: it is an ablation that puts other shards' data into stubs",
			strings.Join(Methods(), ", "))
	} else {
		p.OneOf("method", c.Method, Methods()...)
	}
	p.Above("tau", c.Tau, 0, 1000)
	p.AtLeast("min_stubs", c.MinStubs, 0)
	p.That(c.Method != None || c.MinStubs <= 0, "min_stubs", c.MinStubs, "0 with method %s", None)
	p.That(c.OneHop <= onehop.Directed, "one_hop", uint8(c.OneHop), "none, undirected or directed")
	return p.Err()
}
