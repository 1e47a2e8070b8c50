package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// headLoops runs every loop over heads; what they overwrite is compared. The
// last vector has a value per head.
func headLoops() map[string]func(k Set, heads int, v [6][]float32, w []float32) {
	return map[string]func(k Set, heads int, v [6][]float32, w []float32){
		"sum":              func(k Set, _ int, v [6][]float32, w []float32) { k.SumHeads(w, v[0], v[1]) },
		"add":              func(k Set, _ int, v [6][]float32, w []float32) { k.AddHeads(v[0], v[1], w) },
		"softmax":          func(k Set, heads int, v [6][]float32, _ []float32) { k.Softmax(v[0], heads) },
		"softmax gradient": func(k Set, heads int, v [6][]float32, _ []float32) { k.SoftmaxGrad(v[0], v[1], heads) },
		"pair score":       func(k Set, _ int, v [6][]float32, w []float32) { k.PairScore(w, v[0], v[1], v[2], 0.2) },
		"pair gradient": func(k Set, _ int, v [6][]float32, w []float32) {
			k.PairScoreGrad(&PairGrad{v[0], v[1], v[2], v[3], v[4], v[5]}, w, 0.2)
		},
	}
}

func TestHeadsComputeTheSameBits(t *testing.T) {
	want := FMA{plainLoops{}}
	for _, l := range allLoops() {
		t.Run(l.detail(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				heads := rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 16, 20}).Draw(rt, "heads")
				n := heads * rapid.IntRange(0, 12).Draw(rt, "channels")
				special := rapid.Bool().Draw(rt, "special")
				for name, run := range headLoops() {
					var results [2][][]float32
					for i, k := range []Set{want, FMA{l}} {
						var v [6][]float32
						for j := range v {
							m, memory := guarded(1, n, 32)
							copy(m.Data, hardVector(n, uint64(j), special))
							v[j], results[i] = m.Data, append(results[i], memory)
						}
						w, memory := guarded(1, heads, 32)
						copy(w.Data, hardVector(heads, 9, special))
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
func TestHeadsAreWhatTheySay(t *testing.T) {
	const channels = 5
	for _, k := range kernelSets(t) {
		for _, heads := range []int{1, 3, 8} {
			t.Run(fmt.Sprint(k.Name(), "/", heads), func(t *testing.T) {
				n := heads * channels
				x, y := randomMatrix(1, n, 1).Data, randomMatrix(1, n, 2).Data
				softmax, added, sums := append([]float32{}, x...), append([]float32{}, x...), make([]float32, heads)
				k.Softmax(softmax, heads)
				k.SumHeads(sums, x, y)
				k.AddHeads(added, y, sums)
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
