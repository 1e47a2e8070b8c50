package models

import (
	"fmt"
	"math"
	"slices"

	"lethe/internal/check"
	"lethe/trainer/layers"
)

// The models.
const (
	// EllipticGIN is the paper's GIN for the Elliptic data: three convolutions,
	// each followed by batch norm and ReLU, and two linear layers.
	EllipticGIN = "elliptic-gin"
	// EllipticGINMLP3 is the paper's wording of it: three linear layers with
	// batch norms inside each convolution instead of two without.
	EllipticGINMLP3 = "elliptic-gin-mlp3"
	SAGE            = "sage"
	GIN             = "gin"
	GCN             = "gcn"
	MLP             = "mlp"
	GAT             = "gat"
	GATv2           = "gatv2"
	SuperGAT        = "supergat"
	APPNP           = "appnp"
	SGC             = "sgc"
)

// Names returns the names of all models.
func Names() []string {
	return []string{EllipticGIN, EllipticGINMLP3, SAGE, GIN, GCN, MLP, GAT, GATv2, SuperGAT, APPNP, SGC}
}

// SumsNeighbours tells whether a model adds its neighbours up instead of
// averaging them, so that their number counts.
func SumsNeighbours(model string) bool {
	return slices.Contains([]string{GIN, EllipticGIN, EllipticGINMLP3}, model)
}

const (
	// MaxWidth bounds features and layers, so that a forged checkpoint cannot
	// make the size of a weight matrix overflow.
	MaxWidth = 1 << 16
	// MaxClasses is the largest number of classes that a label can name.
	MaxClasses = math.MaxUint8
	// maxHops and maxHeads bound what a forged checkpoint may ask for.
	maxHops, maxHeads = 1 << 10, 1 << 10
)

// Architecture is what the shapes and the formula of a model depend on.
type Architecture struct {
	Model             string
	Features, Classes int
	// Widths are those of the hidden layers: of the three convolutions and fc1
	// for the Elliptic models, none for SGC, one for all others. The attention
	// models divide it among the heads.
	Widths []int
	// Heads and OutputHeads are those of the two attention layers, else 0.
	Heads, OutputHeads int
	// Hops is the number of propagation steps of APPNP and SGC, else 0.
	Hops int
	// Teleport is α of APPNP, else 0.
	Teleport float64
	// LinearSkip adds a linear layer from the raw features to the logits of the
	// Elliptic models (Weber et al., "Anti-Money Laundering in Bitcoin", 2019).
	LinearSkip bool
	// Plain takes batch norm and the learned ε out of GIN.
	Plain bool
}

// DefaultArchitecture returns the sizes of a model for a hidden width, 64 in the
// citation benchmarks: attention with 8 heads, the last layer with one (SuperGAT
// 8), APPNP with 10 hops and α .1, SGC with 2 hops. The third convolution of the
// Elliptic models and the layer after it have a quarter of the width, so that
// 1024 gives the widths of the paper's notebook.
func DefaultArchitecture(model string, hidden int) Architecture {
	a := Architecture{Model: model, Widths: []int{hidden}}
	switch model {
	case EllipticGIN, EllipticGINMLP3:
		quarter := max(2, hidden/4)
		a.Widths = []int{hidden, hidden, quarter, quarter}
	case GAT, GATv2:
		a.Heads, a.OutputHeads = 8, 1
	case SuperGAT:
		a.Heads, a.OutputHeads = 8, 8
	case APPNP:
		a.Hops, a.Teleport = 10, 0.1
	case SGC:
		a.Widths, a.Hops = []int{}, 2
	}
	return a
}

// DefaultDropout returns the dropout of PyTorch Geometric's benchmarks: .6 for
// the attention models, on their attention too, .5 for APPNP, else none.
func DefaultDropout(model string) float64 {
	switch model {
	case GAT, GATv2, SuperGAT:
		return 0.6
	case APPNP:
		return 0.5
	default:
		return 0
	}
}

// TakesDropout reports whether a model has dropout in front of its layers.
func TakesDropout(model string) bool {
	switch model {
	case EllipticGIN, EllipticGINMLP3, GIN, SGC:
		return false
	default:
		return true
	}
}

// TakesSkip reports whether a model may have the linear skip.
func TakesSkip(model string) bool { return model == EllipticGIN || model == EllipticGINMLP3 }

// Known reports whether there is a model of that name.
func Known(model string) bool {
	_, ok := familyOf(model)
	return ok
}

// Validate reports every value that is out of bounds.
func (a Architecture) Validate() error {
	var p check.Problems
	p.OneOf("model", a.Model, Names()...)
	p.Whole("features", a.Features, 1, MaxWidth)
	p.Whole("classes", a.Classes, 2, MaxClasses)
	p.That(!a.LinearSkip || TakesSkip(a.Model), "linear_skip", a.LinearSkip, "false for model %s", a.Model)
	p.That(!a.Plain || a.Model == GIN, "plain_gin", a.Plain, "false for model %s", a.Model)
	p.Whole("hops", a.Hops, 0, maxHops)
	p.Below("teleport", a.Teleport, 0, 1)
	a.checkWidths(&p)
	return p.Err()
}

// checkWidths looks at the hidden layers and the heads of a model that is known.
func (a Architecture) checkWidths(p *check.Problems) {
	f, ok := familyOf(a.Model)
	if !ok {
		return
	}
	p.That(len(a.Widths) == f.widths, "widths", a.Widths, "%d widths", f.widths)
	for _, w := range a.Widths {
		p.That(w >= 1 && w <= MaxWidth, "widths", a.Widths, "1 to %d each", MaxWidth)
	}
	if !f.attention {
		p.That(a.Heads == 0, "heads", a.Heads, "0 for model %s, which has no attention", a.Model)
		p.That(a.OutputHeads == 0, "output_heads", a.OutputHeads, "0 for model %s, which has no attention", a.Model)
		return
	}
	p.Whole("heads", a.Heads, 1, maxHeads)
	p.Whole("output_heads", a.OutputHeads, 1, maxHeads)
	if a.Heads >= 1 && len(a.Widths) > 0 {
		p.That(a.Widths[0]%a.Heads == 0, "hidden", a.Widths[0], "a multiple of the %d heads", a.Heads)
	}
}

// Equal reports whether two architectures are the same.
func (a Architecture) Equal(other Architecture) bool {
	if !slices.Equal(a.Widths, other.Widths) {
		return false
	}
	a.Widths, other.Widths = nil, nil
	return fmt.Sprintf("%v", a) == fmt.Sprintf("%v", other)
}

// Parameters lays out the trained tensors of a valid architecture.
func (a Architecture) Parameters() *layers.Layout {
	l := &layers.Layout{}
	f, _ := familyOf(a.Model)
	f.parameters(a, l)
	return l
}

// Buffers lays out the batch norms' running statistics.
func (a Architecture) Buffers() *layers.Layout {
	l := &layers.Layout{}
	if f, _ := familyOf(a.Model); f.buffers != nil {
		f.buffers(a, l)
	}
	return l
}
