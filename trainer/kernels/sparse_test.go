package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// A zero adds nothing, so sparse products are the dense ones.
func TestSparseProductsAreTheDenseOnes(t *testing.T) {
	for _, name := range []string{FMAName, PortableName} {
		k, err := Named(name)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			var scratch Scratch
			rapid.Check(t, func(rt *rapid.T) {
				size := rapid.IntRange(1, 40)
				m, n, inner := size.Draw(rt, "m"), size.Draw(rt, "n"), size.Draw(rt, "k")
				a, b := randomMatrix(m, inner, 1), randomMatrix(inner, n, 2)
				d := lethe.NewDraw(3, "test zeros")
				for i := range a.Data {
					if d.IntN(4) > 0 {
						a.Data[i] = 0
					}
				}
				s, turned := NewSparse(a), NewSparse(transposed(a))
				want, got := randomMatrix(m, n, 3), randomMatrix(m, n, 4)
				k.MulNN(want, a, b, &scratch)
				check := func() {
					require.Equal(rt, want.Data, got.Data)
					got = randomMatrix(m, n, 4)
				}
				MulSparse(k, got, s, b)
				check()
				MulSparseTransposed(k, got, turned, b)
				check()
				MulSparseNT(k, got, s, transposed(b), &scratch)
				check()
				want, got = transposed(want), transposed(got)
				MulSparseTN(k, got, b, turned, &scratch)
				require.Equal(rt, want.Data, got.Data)
			})
		})
	}
}
