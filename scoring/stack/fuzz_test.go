package stack

import (
	"testing"

	"lethe/internal/fuzzing"
)

func FuzzDecode(f *testing.F) {
	one := &Combination{coefficients: []float64{1}}
	three := &Combination{coefficients: []float64{0.5, 0, 1.25}, intercept: -2}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		c, err := Decode(message)
		if err != nil {
			return nil, err
		}
		c.Logit(make([]float64, len(c.coefficients)))
		return c.Encode(), nil
	}, one.Encode(), three.Encode())
}
