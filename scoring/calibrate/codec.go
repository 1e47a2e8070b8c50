package calibrate

import (
	"errors"
	"fmt"
	"math"

	"lethe/canonical"
)

const (
	calibrationMagic   = "LCAL"
	calibrationVersion = 1
)

// codes are the encoded numbers of the methods, by index.
func codes() []string { return []string{None, Platt, Isotonic} }

// Encode returns the calibration's canonical bytes: its method, slope, intercept
// and knots.
func (c *Calibration) Encode() []byte {
	w := canonical.NewWriter(calibrationMagic, calibrationVersion)
	for code, method := range codes() {
		if method == c.method {
			w.Uint8(uint8(code))
		}
	}
	w.Uint64(math.Float64bits(c.slope))
	w.Uint64(math.Float64bits(c.intercept))
	w.Count(len(c.knots))
	for _, k := range c.knots {
		w.Uint64(math.Float64bits(k.logit))
		w.Uint64(math.Float64bits(k.probability))
	}
	return w.Seal()
}

// Decode decodes a calibration. The error wraps canonical.ErrCorrupt for bytes that are truncated, altered or not a
// calibration, and canonical.ErrVersion for a format that this program does not support.
func Decode(message []byte) (*Calibration, error) {
	r, err := canonical.NewReader(message, calibrationMagic, calibrationVersion)
	if err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	code := int(r.Uint8())
	c := &Calibration{slope: math.Float64frombits(r.Uint64()), intercept: math.Float64frombits(r.Uint64())}
	if n := r.Count(16); n > 0 {
		c.knots = make([]knot, n)
	}
	for i := range c.knots {
		c.knots[i] = knot{math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	if code >= len(codes()) {
		return nil, fmt.Errorf("calibration: %w: method %d, want 0 to %d", canonical.ErrCorrupt, code, len(codes())-1)
	}
	c.method = codes()[code]
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("calibration: %w: %w", canonical.ErrCorrupt, err)
	}
	return c, nil
}

// check reports the first violated invariant of a calibration.
func (c *Calibration) check() error {
	curve := c.slope != 1 || math.Float64bits(c.intercept) != 0
	switch {
	case c.method != Platt && curve:
		return fmt.Errorf("method %s has slope %v and intercept %v, want 1 and 0", c.method, c.slope, c.intercept)
	case !(c.slope > 0) || math.IsInf(c.slope, 1):
		return fmt.Errorf("slope is %v, want a number of more than 0", c.slope)
	case math.IsNaN(c.intercept) || math.IsInf(c.intercept, 0):
		return errors.New("the intercept is not finite")
	case (c.method == Isotonic) != (len(c.knots) > 0):
		return fmt.Errorf("method %s has %d knots", c.method, len(c.knots))
	}
	for i, k := range c.knots {
		switch {
		case !(k.logit >= -furthest && k.logit <= furthest) || !(k.probability >= 0 && k.probability <= 1):
			return fmt.Errorf("knot %d is not a finite logit and a probability", i)
		case i > 0 && (c.knots[i-1].logit >= k.logit || c.knots[i-1].probability > k.probability):
			return fmt.Errorf("knots %d and %d do not ascend", i-1, i)
		}
	}
	return nil
}
