package models

import (
	"fmt"
	"math"
	"slices"

	"lethe/internal/check"
	"lethe/trainer/layers"
)

const (
	// MaxWidth bounds features and layers, so that a forged checkpoint cannot make the size of a
	// weight matrix overflow.
	MaxWidth = 1 << 16
	// MaxClasses is the largest number of classes that a label can represent.
	MaxClasses = math.MaxUint8
	// maxHops and maxHeads bound the values in a forged checkpoint.
	maxHops, maxHeads = 1 << 10, 1 << 10
)

// Architecture determines the shapes and the formula of a model.
type Architecture struct {
	Model             string
	Features, Classes int
	// Widths are the widths of the hidden layers: of the three convolutions and fc1 for the Elliptic
	// models, none for SGC, one for all others. The attention models divide it among the heads.
	Widths []int
	// Heads and OutputHeads are the numbers of heads of the two attention layers, else 0.
	Heads, OutputHeads int
	// Hops is the number of propagation steps of APPNP and SGC, else 0.
	Hops int
	// Teleport is α of APPNP, else 0.
	Teleport float64
	// LinearSkip adds a linear layer from the raw features to the logits of the
	// Elliptic models (Weber et al., "Anti-Money Laundering in Bitcoin", 2019).
	LinearSkip bool
	// Plain removes batch norm and the learned ε from GIN.
	Plain bool
}

// DefaultArchitecture returns the sizes of a model for a hidden width, 64 in the citation
// benchmarks. An unknown model has one hidden layer.
func DefaultArchitecture(model string, hidden int) Architecture {
	f, ok := familyOf(model)
	if !ok {
		return Architecture{Model: model, Widths: oneLayer(hidden)}
	}
	a := f.sizes
	a.Model, a.Widths = model, f.widths(hidden)
	return a
}

// Validate reports every value that is out of bounds.
func (a Architecture) Validate() error {
	var p check.Problems
	f, ok := familyOf(a.Model)
	p.OneOf("model", a.Model, Names()...)
	p.Whole("features", a.Features, 1, MaxWidth)
	p.Whole("classes", a.Classes, 2, MaxClasses)
	p.That(!a.LinearSkip || f.takesSkip, "linear_skip", a.LinearSkip, "false for model %s", a.Model)
	p.That(!a.Plain || f.takesPlain, "plain_gin", a.Plain, "false for model %s", a.Model)
	p.Whole("hops", a.Hops, 0, maxHops)
	p.Below("teleport", a.Teleport, 0, 1)
	if ok {
		a.checkWidths(&p, f)
	}
	return p.Err()
}

// checkWidths checks the hidden layers and the heads.
func (a Architecture) checkWidths(p *check.Problems, f family) {
	count := len(f.widths(1))
	p.That(len(a.Widths) == count, "widths", a.Widths, "%d widths", count)
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

// Parameters returns the layout of the trained tensors of a valid architecture.
func (a Architecture) Parameters() *layers.Layout {
	l := &layers.Layout{}
	f, _ := familyOf(a.Model)
	f.parameters(a, l)
	return l
}

// Buffers returns the layout of the batch norms' running statistics.
func (a Architecture) Buffers() *layers.Layout {
	l := &layers.Layout{}
	if f, _ := familyOf(a.Model); f.buffers != nil {
		f.buffers(a, l)
	}
	return l
}
