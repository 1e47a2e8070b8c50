package stack

import (
	"fmt"
	"math"
	"slices"

	"lethe/canonical"
)

// Combination is a weighted sum of the components' logits. It is read-only and safe for concurrent
// use.
type Combination struct {
	// coefficients has one weight per component, not negative.
	coefficients []float64
	intercept    float64
}

// Coefficients returns the weight of every component's logit, none negative. They
// need not sum to 1.
func (c *Combination) Coefficients() []float64 { return slices.Clone(c.coefficients) }

// Intercept returns the constant added to the weighted logits.
func (c *Combination) Intercept() float64 { return c.intercept }

// Logit returns the combined logit of illicit from one logit per component, added in their order;
// package calibrate converts it to a probability. Logits are clipped to ±16.1, as in the fit; those
// of components without a coefficient are ignored. It panics if the number of logits differs.
func (c *Combination) Logit(logits []float64) float64 {
	if len(logits) != len(c.coefficients) {
		panic("stack: number of logits and of components differ")
	}
	sum := c.intercept
	for k, w := range c.coefficients {
		if w > 0 {
			sum += float64(w * bounded(logits[k]))
		}
	}
	return sum
}

const (
	combinationMagic   = "LSTK"
	combinationVersion = 1
)

// Encode returns the combination's canonical bytes: the number of components,
// their coefficients and the intercept.
func (c *Combination) Encode() []byte {
	w := canonical.NewWriter(combinationMagic, combinationVersion)
	w.Count(len(c.coefficients))
	for _, v := range c.coefficients {
		w.Uint64(math.Float64bits(v))
	}
	w.Uint64(math.Float64bits(c.intercept))
	return w.Seal()
}

// Decode decodes a combination. The error wraps canonical.ErrCorrupt for bytes that are truncated, altered or not a
// combination, and canonical.ErrVersion for a format that this program does not support.
func Decode(message []byte) (*Combination, error) {
	r, err := canonical.NewReader(message, combinationMagic, combinationVersion)
	if err != nil {
		return nil, fmt.Errorf("combination: %w", err)
	}
	c := &Combination{coefficients: make([]float64, r.Count(8))}
	for k := range c.coefficients {
		c.coefficients[k] = math.Float64frombits(r.Uint64())
	}
	c.intercept = math.Float64frombits(r.Uint64())
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("combination: %w", err)
	}
	if len(c.coefficients) < 1 || len(c.coefficients) > MaxComponents {
		return nil, fmt.Errorf("combination: %w: %d components, want 1 to %d",
			canonical.ErrCorrupt, len(c.coefficients), MaxComponents)
	}
	for k, v := range c.coefficients {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("combination: %w: coefficient %d is %v, want a number of at least 0",
				canonical.ErrCorrupt, k, v)
		}
	}
	if math.IsNaN(c.intercept) || math.IsInf(c.intercept, 0) {
		return nil, fmt.Errorf("combination: %w: the intercept is not finite", canonical.ErrCorrupt)
	}
	return c, nil
}
