package models

import (
	"fmt"
	"math"
	"slices"

	"lethe/internal/check"
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
	// Widths are the widths of the hidden layers, of the three convolutions and fc1 for EllipticGIN. A
	// network with attention divides its one width among the heads.
	Widths []int
	// Heads and OutputHeads are the numbers of heads of the two attention layers, else 0.
	Heads, OutputHeads int
	// Hops is the number of propagation steps, else 0.
	Hops int
	// Teleport is α of a propagation, else 0.
	Teleport float64
	// LinearSkip adds a linear layer from the raw features to the logits of the
	// Elliptic models (Weber et al., "Anti-Money Laundering in Bitcoin", 2019).
	LinearSkip bool
	// Plain removes batch norm and the learned ε.
	Plain bool
}

// Validate reports every value of an architecture of one of the networks that is out of bounds.
func (f Families) Validate(a Architecture) error {
	var p check.Problems
	family, ok := f.Of(a.Model)
	p.OneOf("model", a.Model, f.Names()...)
	p.Whole("features", a.Features, 1, MaxWidth)
	p.Whole("classes", a.Classes, 2, MaxClasses)
	p.That(!a.LinearSkip || family.TakesSkip, "linear_skip", a.LinearSkip, "false for model %s", a.Model)
	p.That(!a.Plain || family.TakesPlain, "plain_gin", a.Plain, "false for model %s", a.Model)
	p.Whole("hops", a.Hops, 0, maxHops)
	p.Below("teleport", a.Teleport, 0, 1)
	if ok {
		a.checkWidths(&p, family)
	}
	return p.Err()
}

// checkWidths checks the hidden layers and the heads.
func (a Architecture) checkWidths(p *check.Problems, f Family) {
	count := len(f.Widths(1))
	p.That(len(a.Widths) == count, "widths", a.Widths, "%d widths", count)
	for _, w := range a.Widths {
		p.That(w >= 1 && w <= MaxWidth, "widths", a.Widths, "1 to %d each", MaxWidth)
	}
	if !f.Attention {
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
