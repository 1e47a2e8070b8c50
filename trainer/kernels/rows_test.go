package kernels

import (
	"testing"

	"pgregory.net/rapid"

	"lethe"
)

// Sums over rows are repeated Axpy, bit by bit, and touch nothing else.
func TestRowsAreRepeatedAxpy(t *testing.T) {
	for _, k := range append(allFused(), kernelSets(t)...) {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				count, rows := rapid.IntRange(0, 9).Draw(rt, "lists"), rapid.IntRange(1, 12).Draw(rt, "rows")
				cols, wide := rapid.IntRange(1, 150).Draw(rt, "cols"), rapid.IntRange(1, 150).Draw(rt, "wide")
				d := lethe.NewDraw(7, "test rows", uint64(rapid.IntRange(0, 99).Draw(rt, "seed")))
				l := Lists{Starts: []int{0}}
				for range count {
					for i := range rows {
						if d.IntN(3) == 0 {
							l.Rows = append(l.Rows, uint32(i))
						}
					}
					l.Starts = append(l.Starts, len(l.Rows))
				}
				if d.IntN(4) > 0 {
					l.Weights = randomMatrix(1, len(l.Rows), 3).Data
				}
				x, want := randomMatrix(rows, wide, 4), randomMatrix(count, cols, 5)
				got, memory := guarded(count, cols, 20)
				copy(got.Data, want.Data)
				shared := min(cols, wide)
				for i := range count {
					clear(want.Row(i)[:shared])
					for e := l.Starts[i]; e < l.Starts[i+1]; e++ {
						weight := float32(1)
						if l.Weights != nil {
							weight = l.Weights[e]
						}
						k.Rows.Axpy(want.Row(i)[:shared], x.Row(int(l.Rows[e]))[:shared], weight)
					}
				}
				k.Rows.SumRows(got, x, l)
				requireBits(rt, want.Data, got.Data)
				checkGuard(rt, memory, 20)
			})
		})
	}
}

// Rows are added one by one, the last row of y again and again if it is the only
// one, in place or not, and nothing else is touched.
func TestAddRowsAddsRowByRow(t *testing.T) {
	for _, l := range allFused() {
		t.Run(l.Detail, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rows := rapid.IntRange(1, 9).Draw(rt, "rows")
				width := rapid.IntRange(1, 70)
				cols, wide, other := width.Draw(rt, "cols"), width.Draw(rt, "wide"), width.Draw(rt, "other")
				if rapid.Bool().Draw(rt, "same") {
					wide, other = cols, cols
				}
				count := rapid.SampledFrom([]int{1, rows}).Draw(rt, "rows of y")
				x, y, want := randomMatrix(rows, wide, 4), randomMatrix(count, other, 5), randomMatrix(rows, cols, 6)
				got, memory := guarded(rows, cols, 20)
				copy(got.Data, want.Data)
				if wide == cols && rapid.Bool().Draw(rt, "in place") {
					x = got
				}
				shared := min(cols, wide, other)
				for i := range rows {
					copy(want.Row(i)[:shared], x.Row(i))
					plainElements{}.Add(want.Row(i)[:shared], y.Row(min(i, count-1))[:shared])
				}
				x.Data, y.Data = x.Data[:(rows-1)*wide+shared], y.Data[:(count-1)*other+shared]
				l.Rows.AddRows(got, x, y)
				requireBits(rt, want.Data, got.Data)
				checkGuard(rt, memory, 20)
			})
		})
	}
}
