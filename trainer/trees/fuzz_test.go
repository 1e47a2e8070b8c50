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
	several := &Model{classes: 3, features: 1, base: []float64{.5, .25, .25}, trees: []tree{
		{
			{feature: 0, value: 2, right: 2, cover: 4, missingLeft: true},
			{feature: leaf, value: 1, cover: 3}, {feature: leaf, cover: 1},
		},
		{{feature: leaf, value: 1, cover: 4}}, {{feature: leaf, cover: 4}},
	}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		m, err := Decode(message)
		if err != nil {
			return nil, err
		}
		if m.features <= 1024 {
			asked := make([]float32, 5*m.features)
			if _, err := m.Probabilities(asked); err != nil {
				return nil, err
			}
			asked[0] = missing()
			if _, err := m.Probabilities(asked); err != nil {
				return nil, err
			}
		}
		return m.Encode(), nil
	}, small.Encode(), several.Encode())
}
