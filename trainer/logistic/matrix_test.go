package logistic

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// loops are those of this processor beside the one in use.
type loops struct {
	name   string
	scores func(scores, weights []float64, rows []float32)
	add    func(slopes, steps []float64, rows []float32)
}

// Every loop of this processor computes what plain Go does, bit for bit.
func TestLoopsHaveTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := lethe.NewDraw(rapid.Uint64().Draw(t, "seed"), "loops")
		m := newMatrix(band, rapid.IntRange(1, 40).Draw(t, "columns"))
		for i := range m.values {
			m.values[i] = float32(d.Normal())
		}
		weights, steps := normal(d, m.stride), normal(d, band)
		scores, slopes := make([]float64, band), normal(d, m.stride)
		wantScores, wantSlopes := make([]float64, band), append([]float64(nil), slopes...)
		scoreRowsPlain(wantScores, weights, m.values)
		addRowsPlain(wantSlopes, steps, m.values)
		for _, l := range append(assembled(), loops{"chosen", scoreRows, addRows}) {
			own := append([]float64(nil), slopes...)
			l.scores(scores, weights, m.values)
			l.add(own, steps, m.values)
			require.Equal(t, wantScores, scores, l.name)
			require.Equal(t, wantSlopes, own, l.name)
		}
	})
}

func normal(d *lethe.Draw, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = d.Normal()
	}
	return out
}
