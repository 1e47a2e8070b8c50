package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// kernelSets returns every set that this processor can run.
func kernelSets(t testing.TB) []Set {
	t.Helper()
	sets := []Set{Portable{}}
	if k := Default(); k.Name() != PortableName {
		sets = append(sets, k)
	}
	return sets
}

func randomMatrix(rows, cols int, seed uint64) Matrix {
	d := lethe.NewDraw(seed, "test matrix")
	m := Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = 2 * (d.Float32() + d.Float32() + d.Float32() - 1.5)
	}
	return m
}

func TestProductsMatchTheDefinition(t *testing.T) {
	for _, k := range kernelSets(t) {
		t.Run(k.Name(), func(t *testing.T) {
			var scratch Scratch
			rapid.Check(t, func(rt *rapid.T) {
				size := rapid.OneOf(rapid.IntRange(1, 70), rapid.SampledFrom([]int{127, 128, 129, 257}))
				m, n, inner := size.Draw(rt, "m"), size.Draw(rt, "n"), size.Draw(rt, "k")
				a, b := randomMatrix(m, inner, 1), randomMatrix(inner, n, 2)
				want := make([]float64, m*n)
				for i := range m {
					for p := range inner {
						for j := range n {
							want[i*n+j] += float64(a.Data[i*inner+p]) * float64(b.Data[p*n+j])
						}
					}
				}
				at := transpose(make([]float32, len(a.Data)), a)
				bt := transpose(make([]float32, len(b.Data)), b)
				for name, product := range map[string]func(dst Matrix){
					"NN": func(dst Matrix) { k.MulNN(dst, a, b, &scratch) },
					"NT": func(dst Matrix) { k.MulNT(dst, a, bt, &scratch) },
					"TN": func(dst Matrix) { k.MulTN(dst, at, b, &scratch) },
				} {
					got := randomMatrix(m, n, 3)
					product(got)
					for i := range want {
						require.InDelta(rt, want[i], got.Data[i], 1e-5*math.Sqrt(float64(inner))*8, "%s element %d", name, i)
					}
				}
			})
		})
	}
}

func TestKernelsByName(t *testing.T) {
	for _, k := range kernelSets(t) {
		got, err := Named(k.Name())
		require.NoError(t, err)
		require.Equal(t, k, got)
	}
	_, err := Named("mkl")
	require.ErrorContains(t, err, PortableName)
}

func BenchmarkMulNT(b *testing.B) {
	for _, k := range kernelSets(b) {
		for _, s := range [][3]int{{50, 64, 59}, {50, 64, 64}, {50, 16, 64}, {300, 64, 165}, {300, 256, 256}, {300, 1024, 1024}} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", k.Name(), s[0], s[1], s[2]), func(b *testing.B) {
				x, w, dst := randomMatrix(s[0], s[2], 1), randomMatrix(s[1], s[2], 2), randomMatrix(s[0], s[1], 3)
				var scratch Scratch
				for b.Loop() {
					k.MulNT(dst, x, w, &scratch)
				}
				b.ReportMetric(2*float64(s[0]*s[1]*s[2])*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}
