package trees

import (
	"testing"

	"lethe/internal/fuzzing"
)

// What is decoded can also be asked: a forged tree must not panic or run in
// circles.
func FuzzDecode(f *testing.F) {
	small := &Model{classes: 2, features: 2, base: []float64{.5}, trees: []tree{
		{{feature: 1, value: .25, right: 2}, {feature: leaf, value: -1}, {feature: leaf, value: 1}},
	}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		m, err := Decode(message)
		if err != nil {
			return nil, err
		}
		if m.features <= 1024 {
			if _, err := m.Probabilities(make([]float32, 2*m.features)); err != nil {
				return nil, err
			}
		}
		return m.Encode(), nil
	}, small.Encode())
}
