package kernels

import (
	"testing"

	"pgregory.net/rapid"

	"lethe"
)

// Sums over rows are repeated Axpy, bit by bit, and touch nothing else.
func TestRowsAreRepeatedAxpy(t *testing.T) {
	var sets []Set
	for _, l := range allLoops() {
		sets = append(sets, FMA{l})
	}
	for _, k := range append(sets, kernelSets(t)...) {
		t.Run(k.Name(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rows, cols := rapid.IntRange(1, 12).Draw(rt, "rows"), rapid.IntRange(1, 150).Draw(rt, "cols")
				first := rapid.IntRange(1, cols).Draw(rt, "first columns")
				d := lethe.NewDraw(7, "test rows", uint64(rapid.IntRange(0, 99).Draw(rt, "seed")))
				var list []uint32
				for i := range rows {
					if d.IntN(2) == 0 {
						list = append(list, uint32(i))
					}
				}
				weights := randomMatrix(1, len(list), 3).Data
				if d.IntN(4) == 0 {
					weights = nil
				}
				x := randomMatrix(rows, cols, 4)
				want, got := make([]float32, first), make([]float32, first)
				for e, row := range list {
					weight := float32(1)
					if weights != nil {
						weight = weights[e]
					}
					k.Axpy(want, x.Row(int(row))[:first], weight)
				}
				k.SumRows(got, x, list, weights)
				requireBits(rt, want, got)

				if weights == nil {
					return
				}
				to, memory := guarded(rows, cols, 20)
				copy(to.Data, x.Data)
				for e, row := range list {
					k.Axpy(x.Row(int(row)), randomMatrix(1, cols, 5).Data, weights[e])
				}
				k.AddRows(to, randomMatrix(1, cols, 5).Data, list, weights)
				requireBits(rt, x.Data, to.Data)
				checkGuard(rt, memory, 20)
			})
		})
	}
}
