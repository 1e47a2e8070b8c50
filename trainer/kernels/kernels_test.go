package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"lethe"
)

// kernelSets returns every set that this machine can run.
func kernelSets(t testing.TB) []Set {
	t.Helper()
	var sets []Set
	for _, name := range Available() {
		k, err := Named(name)
		require.NoError(t, err)
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

func transposed(m Matrix) Matrix { return transpose(make([]float32, len(m.Data)), m) }

// guarded returns a matrix that ends where its memory ends and begins behind
// margin values, together with all of that memory.
func guarded(rows, cols, margin int) (Matrix, []float32) {
	all := make([]float32, rows*cols+2*margin)
	for i := range all {
		all[i] = 12345
	}
	return Matrix{Rows: rows, Cols: cols, Data: all[margin : margin+rows*cols : margin+rows*cols]}, all
}

// product is one of the three, of a (m×k) and b (k×n).
type product struct {
	name string
	run  func(k Set, dst, a, b Matrix, s *Scratch)
}

func products() []product {
	return []product{
		{"NN", func(k Set, dst, a, b Matrix, s *Scratch) { k.Products.MulNN(dst, a, b, s) }},
		{"NT", func(k Set, dst, a, b Matrix, s *Scratch) { k.Products.MulNT(dst, a, transposed(b), s) }},
		{"TN", func(k Set, dst, a, b Matrix, s *Scratch) { k.Products.MulTN(dst, transposed(a), b, s) }},
	}
}

// Every product of the sets, of all small and some large shapes, is what
// float64 gives, and nothing beside the destination is written to.
func TestProductsMatchTheDefinition(t *testing.T) {
	for _, k := range kernelSets(t) {
		t.Run(k.Name, func(t *testing.T) {
			var scratch Scratch
			rapid.Check(t, func(rt *rapid.T) {
				m, n, inner := drawShape(rt)
				a, b := randomMatrix(m, inner, 1), randomMatrix(inner, n, 2)
				want := make([]float64, m*n)
				for i := range m {
					for p := range inner {
						for j := range n {
							want[i*n+j] += float64(a.Data[i*inner+p]) * float64(b.Data[p*n+j])
						}
					}
				}
				for _, p := range products() {
					got, all := guarded(m, n, 64)
					p.run(k, got, a, b, &scratch)
					for i := range want {
						if math.Abs(want[i]-float64(got.Data[i])) > 1e-5*math.Sqrt(float64(inner))*8 {
							rt.Fatalf("%s %d×%d×%d element %d is %g, want %g", p.name, m, n, inner, i, got.Data[i], want[i])
						}
					}
					checkGuard(rt, all, 64)
				}
			})
		})
	}
}

// drawShape returns sizes up to 70, of which one may be larger than a block.
func drawShape(t *rapid.T) (m, n, k int) {
	size := rapid.IntRange(0, 70)
	shape := [3]int{size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k")}
	if large := rapid.SampledFrom([]int{0, 0, 0, 128, 353, 389, 710}).Draw(t, "large"); large > 0 {
		shape[rapid.IntRange(0, 2).Draw(t, "where")] = large
	}
	return shape[0], shape[1], shape[2]
}

func checkGuard(t rapid.TB, all []float32, margin int) {
	for i, v := range all {
		if (i < margin || i >= len(all)-margin) && v != 12345 {
			t.Fatalf("value %d of %d lies outside and was overwritten", i, len(all))
		}
	}
}

func TestKernelsByName(t *testing.T) {
	for _, k := range kernelSets(t) {
		got, err := Named(k.Name)
		require.NoError(t, err)
		require.Equal(t, k, got)
	}
	for _, unknown := range []string{"", "auto", "mkl"} {
		_, err := Named(unknown)
		require.ErrorContains(t, err, PortableName)
	}
	require.ElementsMatch(t, []string{FMAName, PortableName}, Available())
}

func BenchmarkMulNT(b *testing.B) {
	for _, k := range kernelSets(b) {
		for _, s := range [][3]int{{50, 64, 59}, {168, 64, 64}, {300, 128, 128}, {300, 256, 256}, {300, 1024, 1024}} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", k.Name, s[0], s[1], s[2]), func(b *testing.B) {
				x, w, dst := randomMatrix(s[0], s[2], 1), randomMatrix(s[1], s[2], 2), randomMatrix(s[0], s[1], 3)
				var scratch Scratch
				for b.Loop() {
					k.Products.MulNT(dst, x, w, &scratch)
				}
				b.ReportMetric(2*float64(s[0]*s[1]*s[2])*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}

// Products are called from several goroutines at once. Whatever runs beside
// them, and on whichever thread, the bits are the same.
func TestProductsDoNotDependOnWhatRunsBeside(t *testing.T) {
	for _, k := range kernelSets(t) {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			a, b := randomMatrix(150, 160, 1), randomMatrix(160, 170, 2)
			want := randomMatrix(150, 170, 3)
			k.Products.MulNN(want, a, b, &Scratch{})
			var g errgroup.Group
			for range 4 {
				g.Go(func() error {
					var scratch Scratch
					got := randomMatrix(150, 170, 4)
					for i := range 20 {
						products()[i%3].run(k, got, a, b, &scratch)
						for j, v := range got.Data {
							if i%3 == 0 && v != want.Data[j] {
								return fmt.Errorf("value %d is %g, want %g", j, v, want.Data[j])
							}
						}
					}
					return nil
				})
			}
			require.NoError(t, g.Wait())
		})
	}
}
