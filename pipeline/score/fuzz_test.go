package score

import (
	"testing"

	"lethe"
	"lethe/internal/fuzzing"
)

func FuzzDecodePublished(f *testing.F) {
	one := &published{nodes: []lethe.Pseudonym{{1}, {2}}, probabilities: []float64{.25, 1}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		p, err := decodePublished(message)
		if err != nil {
			return nil, err
		}
		return p.encode(), nil
	}, one.encode(), (&published{}).encode())
}

func FuzzDecodeLink(f *testing.F) {
	fuzzing.Plain(f, func(value []byte) error {
		_, err := decodeLink(value)
		return err
	}, link{revision: 3, previous: lethe.NoTimestep, done: true}.encode())
}
