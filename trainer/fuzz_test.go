package trainer

import (
	"testing"

	"lethe/internal/fuzzing"
	"lethe/trainer/models"
)

func FuzzDecodeCheckpoint(f *testing.F) {
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		c, err := DecodeCheckpoint(message)
		if err != nil {
			return nil, err
		}
		return EncodeCheckpoint(c), nil
	}, EncodeCheckpoint(smallCheckpoint(f)))
}

func FuzzDecodeBlend(f *testing.F) {
	b := &blend{rate: 1, losses: []float64{.25}, models: []*Checkpoint{smallCheckpoint(f)}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		b, err := decodeBlend(message, models.Served())
		if err != nil {
			return nil, err
		}
		if _, _, err := b.shape(models.Served()); err != nil {
			return nil, err
		}
		return b.encode(), nil
	}, b.encode())
}
