package kernels

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// atEdge returns a copy of a matrix whose last value ends where memory ends that can be
// read: a loop that reads further fails.
func atEdge(t *testing.T, m Matrix) Matrix {
	t.Helper()
	page := unix.Getpagesize()
	length := roundUp(4*len(m.Data), page)
	memory, err := unix.Mmap(-1, 0, length+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(memory)) })
	require.NoError(t, unix.Mprotect(memory[length:], unix.PROT_NONE))
	copied := unsafe.Slice((*float32)(unsafe.Pointer(&memory[length-4*len(m.Data)])), len(m.Data))
	copy(copied, m.Data)
	return Matrix{Rows: m.Rows, Cols: m.Cols, Data: copied}
}

// Operands and results end where memory ends, and the bits are those of the plain loops.
func TestProductsReadNothingBehindTheirOperands(t *testing.T) {
	for _, l := range allFused() {
		for _, s := range edgeShapes() {
			t.Run(fmt.Sprintf("%s/%dx%dx%d", l.Detail, s[0], s[1], s[2]), func(t *testing.T) {
				a, b := randomMatrix(s[0], s[2], 1), randomMatrix(s[2], s[1], 2)
				want, got := randomMatrix(s[0], s[1], 3), atEdge(t, randomMatrix(s[0], s[1], 3))
				products()[0].run(fusedPlain(), want, a, b, &Scratch{})
				a, turnedA := atEdge(t, a), atEdge(t, transposed(a))
				b, turnedB := atEdge(t, b), atEdge(t, transposed(b))
				for _, multiply := range []func(){
					func() { l.Products.MulNN(got, a, b, &Scratch{}) },
					func() { l.Products.MulNT(got, a, turnedB, &Scratch{}) },
					func() { l.Products.MulTN(got, turnedA, b, &Scratch{}) },
				} {
					clear(got.Data)
					multiply()
					requireBits(t, want.Data, got.Data)
				}
			})
		}
	}
}
