package loops

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// headLoops runs every loop over heads; what they overwrite is compared. The
// vectors are matrices of four rows, w has a value per row and head.
func headLoops() map[string]func(k Set, heads int, v [6]Matrix, w []float32) {
	type loop = func(k Set, heads int, v [6]Matrix, w []float32)
	rows := []uint32{0, 2, 3}
	pairs := func(heads int, v [6]Matrix) *Pairs {
		return &Pairs{
			Left: v[0], Rows: rows, Right: v[1].Row(0), Vector: v[2].Row(0), Slope: 0.2, Heads: heads,
			GradLeft: v[3], GradRight: v[4].Row(0), GradVector: v[5].Row(0),
		}
	}
	return map[string]loop{
		"sum": func(k Set, heads int, v [6]Matrix, w []float32) {
			k.Heads.SumHeadRows(v[0].Row(1), v[1], rows, w, heads)
		},
		"add": func(k Set, heads int, v [6]Matrix, w []float32) {
			k.Heads.AddHeadRows(v[0], v[1].Row(1), rows, w, heads)
		},
		"dot": func(k Set, heads int, v [6]Matrix, w []float32) {
			k.Heads.DotHeadRows(w, v[0].Row(1), v[1], rows, heads)
		},
		"permute": func(k Set, heads int, v [6]Matrix, _ []float32) {
			order := make([]uint32, v[0].Cols-v[0].Cols/3)
			for p := range order {
				order[p] = uint32(p * 7 % len(order))
			}
			k.Heads.Permute(v[0], v[1], v[0].Cols/3, v[0].Cols/4, order)
		},
		"softmax": func(k Set, heads int, v [6]Matrix, _ []float32) { k.Heads.Softmax(v[0].Row(1), heads) },
		"softmax gradient": func(k Set, heads int, v [6]Matrix, _ []float32) {
			k.Heads.SoftmaxGrad(v[0].Row(1), v[1].Row(1), heads)
		},
		"pairs":           func(k Set, heads int, v [6]Matrix, w []float32) { k.Heads.PairScores(w, pairs(heads, v)) },
		"pairs' gradient": func(k Set, heads int, v [6]Matrix, w []float32) { k.Heads.PairScoresGrad(pairs(heads, v), w) },
	}
}

func TestHeadsComputeTheSameBits(t *testing.T) {
	want := plain()
	for name, l := range others() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				heads := rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 16, 20}).Draw(rt, "heads")
				n := heads * rapid.IntRange(0, 30).Draw(rt, "channels")
				special := rapid.Bool().Draw(rt, "special")
				for name, run := range headLoops() {
					var results [2][][]float32
					for i, k := range []Set{want, l} {
						var v [6]Matrix
						for j := range v {
							m, memory := guarded(4, n, 32)
							copy(m.Data, hardVector(4*n, uint64(j), special))
							v[j], results[i] = m, append(results[i], memory)
						}
						w, memory := guarded(3, heads, 32)
						copy(w.Data, hardVector(3*heads, 9, special))
						results[i] = append(results[i], memory)
						run(k, heads, v, w.Data)
					}
					for j := range results[0] {
						for e := range results[0][j] {
							if !sameFloat(results[0][j][e], results[1][j][e]) {
								rt.Fatalf("%s: vector %d value %d: %g, want %g", name, j, e, results[1][j][e], results[0][j][e])
							}
						}
					}
				}
			})
		})
	}
}

// Against the definition in double precision, for every set.
func TestHeadsMatchTheDefinition(t *testing.T) {
	const channels = 5
	for name, k := range others() {
		for _, heads := range []int{1, 3, 8} {
			t.Run(fmt.Sprint(name, "/", heads), func(t *testing.T) {
				n := heads * channels
				x, y := randomMatrix(1, n, 1).Data, randomMatrix(1, n, 2).Data
				softmax, added, sums := append([]float32{}, x...), append([]float32{}, x...), make([]float32, heads)
				row := func(data []float32) Matrix { return Matrix{Rows: 1, Cols: n, Data: data} }
				k.Heads.Softmax(softmax, heads)
				k.Heads.DotHeadRows(sums, x, row(y), []uint32{0}, heads)
				k.Heads.AddHeadRows(row(added), y, []uint32{0}, sums, heads)
				for h := range heads {
					total, product := 0.0, 0.0
					for p := h; p < n; p += heads {
						total += math.Exp(float64(x[p]))
						product += float64(x[p]) * float64(y[p])
					}
					require.InDelta(t, product, sums[h], 1e-5)
					for p := h; p < n; p += heads {
						require.InDelta(t, math.Exp(float64(x[p]))/total, softmax[p], 1e-6)
						require.InDelta(t, float64(x[p])+product*float64(y[p]), added[p], 1e-5)
					}
				}
			})
		}
	}
}

// The exponential that attention is made of.
func TestExponential(t *testing.T) {
	for x := float32(0); x > -87; x -= 0.37 {
		require.InEpsilon(t, math.Exp(float64(x)), exponential(x), 3e-7)
	}
	require.Equal(t, float32(1), exponential(0))
	require.Zero(t, exponential(float32(math.Inf(-1))))
	require.True(t, math.IsNaN(float64(exponential(float32(math.NaN())))))
}
