package logistic

import (
	"testing"

	"lethe/internal/fuzzing"
)

func FuzzDecode(f *testing.F) {
	two := &Model{classes: 2, features: 2, weights: []float64{1, -2, .5}}
	three := &Model{classes: 3, features: 1, weights: []float64{1, 0, 2, 0, 3, 0}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		m, err := Decode(message)
		if err != nil {
			return nil, err
		}
		if _, err := m.Probabilities(make([]float32, 2*m.features)); err != nil {
			return nil, err
		}
		return m.Encode(), nil
	}, two.Encode(), three.Encode())
}
