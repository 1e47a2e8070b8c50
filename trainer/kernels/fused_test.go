package kernels

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// All loops that this processor can run must agree with the plain ones bit for
// bit: that is what the set's name promises.
func TestFusedLoopsComputeTheSameBits(t *testing.T) {
	want := fusedPlain()
	for _, l := range allFused() {
		t.Run(l.Detail, func(t *testing.T) {
			var scratch, other Scratch
			rapid.Check(t, func(rt *rapid.T) {
				m, n, inner := drawShape(rt)
				a, b := randomMatrix(m, inner, 1), randomMatrix(inner, n, 2)
				for _, p := range products() {
					expected, _ := guarded(m, n, 0)
					p.run(want, expected, a, b, &other)
					got, all := guarded(m, n, 40)
					p.run(l, got, a, b, &scratch)
					requireBits(rt, expected.Data, got.Data)
					checkGuard(rt, all, 40)
				}
			})
		})
	}
}

// edgeShapes are the rows, columns and depth of products at the bounds of what is packed
// and read where it is: one step of k, rows of one panel, of more and none to spare, several
// blocks of k (above 352) and of columns (above 384), rows close to and far from each other.
func edgeShapes() [][3]int {
	return [][3]int{
		{6, 16, 1}, {5, 16, 1}, {7, 1, 1}, {12, 17, 2}, {11, 15, 9}, {48, 64, 64}, {49, 64, 165}, {103, 31, 129},
		{54, 129, 512}, {54, 129, 513}, {13, 128, 513}, {8, 390, 353}, {13, 390, 513}, {20, 129, 1100}, {6, 800, 710},
	}
}

func TestFusedLoopsComputeTheSameBitsAtTheBoundsOfBlocks(t *testing.T) {
	want := fusedPlain()
	for _, l := range allFused() {
		t.Run(l.Detail, func(t *testing.T) {
			var scratch Scratch
			for _, s := range edgeShapes() {
				a, b := randomMatrix(s[0], s[2], 1), randomMatrix(s[2], s[1], 2)
				for _, p := range products() {
					expected, _ := guarded(s[0], s[1], 0)
					p.run(want, expected, a, b, &scratch)
					got, all := guarded(s[0], s[1], 40)
					p.run(l, got, a, b, &scratch)
					requireBits(t, expected.Data, got.Data)
					checkGuard(t, all, 40)
				}
			}
		})
	}
}

// Vectors hold what is hard: zeros of both signs, infinities, not-a-numbers.
func hardVector(n int, seed uint64, special bool) []float32 {
	v := randomMatrix(1, n, seed).Data
	if !special {
		return v
	}
	negativeZero, infinity := float32(math.Copysign(0, -1)), float32(math.Inf(1))
	hard := []float32{0, negativeZero, infinity, -infinity, float32(math.NaN()), 1e-42, 3e38}
	d := lethe.NewDraw(seed, "hard values")
	for i := range v {
		if d.IntN(3) == 0 {
			v[i] = hard[d.IntN(len(hard))]
		}
	}
	return v
}

func TestElementsComputeTheSameBits(t *testing.T) {
	want := fusedPlain()
	for _, l := range allFused() {
		t.Run(l.Detail, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n := rapid.IntRange(0, 100).Draw(rt, "n")
				special := rapid.Bool().Draw(rt, "special")
				for name, run := range elementLoops() {
					var results [2][][]float32
					for i, k := range []Set{want, l} {
						all := [][]float32{}
						var vectors [4][]float32
						for j := range vectors {
							m, memory := guarded(1, n, 32)
							copy(m.Data, hardVector(n, uint64(j), special))
							vectors[j], all = m.Data, append(all, memory)
						}
						last := run(k, vectors)
						results[i] = append(all, []float32{float32(last)})
					}
					for j := range results[0] {
						require.Equal(rt, len(results[0][j]), len(results[1][j]))
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

// elementLoops runs every loop over vectors; what they return or overwrite is
// compared.
func elementLoops() map[string]func(k Set, v [4][]float32) float64 {
	truth := map[bool]float64{true: 1}
	return map[string]func(k Set, v [4][]float32) float64{
		"add":   func(k Set, v [4][]float32) float64 { k.Elements.Add(v[0], v[1]); return 0 },
		"scale": func(k Set, v [4][]float32) float64 { k.Elements.Scale(v[0], v[1], 1.7); return 0 },
		"axpy":  func(k Set, v [4][]float32) float64 { k.Rows.Axpy(v[0], v[1], -0.3); return 0 },
		"dot":   func(k Set, v [4][]float32) float64 { return k.Elements.Dot(v[0], v[1]) },
		"relu":  func(k Set, v [4][]float32) float64 { k.Activations.ReLU(v[0], v[1]); return 0 },
		"relu gradient": func(k Set, v [4][]float32) float64 {
			k.Activations.ReLUGrad(v[0], v[1], v[2])
			return 0
		},
		"multiply": func(k Set, v [4][]float32) float64 { k.Elements.Multiply(v[0], v[1], v[2]); return 0 },
		"adam": func(k Set, v [4][]float32) float64 {
			s := AdamStep{0.01, 0.999, 0.9, 0.999, 0.1, 0.001, 0.003, 1.2, 1e-8}
			for i, x := range v[3] {
				v[3][i] = float32(math.Abs(float64(x)))
			}
			return truth[k.Optimiser.Adam(&s, v[0], v[1], v[2], v[3])]
		},
	}
}

func TestColumnsComputeTheSameBits(t *testing.T) {
	want := fusedPlain()
	for _, l := range allFused() {
		t.Run(l.Detail, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rows, cols := rapid.IntRange(0, 20).Draw(rt, "rows"), rapid.IntRange(1, 70).Draw(rt, "cols")
				x, y := randomMatrix(rows, cols, 1), randomMatrix(rows, cols, 2)
				vector := func(seed uint64) []float32 { return randomMatrix(1, cols, seed).Data }
				n := Normalisation{
					Shift: vector(3), Inverse: vector(4), Weight: vector(5), Bias: vector(6),
					Sum: vector(7), Along: vector(8), Share: 0.125,
				}
				var sums [2][3][]float64
				var values [2][]float32
				for i, k := range []Set{want, l} {
					for j := range sums[i] {
						sums[i][j] = make([]float64, cols)
					}
					k.Columns.ColumnSums(sums[i][0], x)
					k.Columns.ColumnSquares(sums[i][1], sums[0][0], x)
					k.Columns.ColumnDots(sums[i][2], x, y)
					forward, a := guarded(rows, cols, 20)
					z, b := guarded(rows, cols, 20)
					backward, c := guarded(rows, cols, 20)
					k.Columns.Normalise(forward, z, x, &n)
					k.Columns.NormaliseGrad(backward, z, y, &n)
					values[i] = append(append(a, b...), c...)
				}
				require.Equal(rt, sums[0], sums[1])
				requireBits(rt, values[0], values[1])
			})
		})
	}
}

// The emulated operation rounds once, as exact arithmetic shows.
func TestFusedMultiplyAddRoundsOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) float32 {
			v := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
			if v != v || math.IsInf(float64(v), 0) {
				return 1
			}
			return v
		})
		x, y := value.Draw(rt, "x"), value.Draw(rt, "y")
		p := float64(x) * float64(y)
		// Sums that nearly cancel and sums half way between two numbers are
		// where rounding twice goes wrong.
		addends := []float32{value.Draw(rt, "z"), -float32(p), float32(p * (1 << 24)), float32(p / (1 << 24))}
		z := rapid.SampledFrom(addends).Draw(rt, "addend")
		if math.IsInf(float64(z), 0) {
			z = 0
		}
		exact := new(big.Float).SetPrec(2000).SetFloat64(float64(x))
		exact.Mul(exact, new(big.Float).SetFloat64(float64(y)))
		exact.Add(exact, new(big.Float).SetFloat64(float64(z)))
		want, _ := exact.Float32()
		require.Equal(rt, want, fusedMultiplyAdd(x, y, z))
	})
	// A product half way between two float32, and an addend that float64 loses
	// beside it but that decides where to round.
	x := float32(1 + 0x1p-12)
	require.Equal(t, float32(1+0x1p-11+0x1p-23), fusedMultiplyAdd(x, x, 0x1p-60))
	require.Equal(t, float32(1+0x1p-11), fusedMultiplyAdd(x, x, -0x1p-60))
	require.Equal(t, float32(-1-0x1p-11-0x1p-23), fusedMultiplyAdd(-x, x, -0x1p-60))
}

func requireBits(t rapid.TB, want, got []float32) {
	require.Len(t, got, len(want))
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			t.Fatalf("value %d is %x, want %x", i, math.Float32bits(got[i]), math.Float32bits(want[i]))
		}
	}
}

// sameFloat compares bits, but takes all not-a-numbers for one.
func sameFloat(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}
