package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
)

// allFused returns the sets of fused multiply-adds in assembly that this processor
// can run.
func allFused() []Set {
	var all []Set
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, fusedAVX2())
	}
	if s, _ := fused(); s == fusedAVX512() {
		all = append(all, s)
	}
	return all
}

// Whole panels of six rows are read where they are, unless rows are far from each other and
// read often: none of the room for packed ones is written to.
func TestAVX2PacksNoRowsThatItReadsWhereTheyAre(t *testing.T) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("the processor has no AVX2")
	}
	for _, c := range []struct{ rows, columns, depth, packed int }{
		{12, 64, 64, 0}, {17, 64, 64, 1}, {12, 129, nearColumns, 0}, {12, narrowColumns, nearColumns + 1, 0},
		{12, 129, nearColumns + 1, 2}, {17, 129, nearColumns + 1, 3}, {5, 64, 64, 1},
	} {
		t.Run(fmt.Sprintf("%dx%dx%d", c.rows, c.columns, c.depth), func(t *testing.T) {
			const unwritten = 12345
			s := Scratch{left: make([]float32, 1<<16)}
			for i := range s.left {
				s.left[i] = unwritten
			}
			a, b := randomMatrix(c.rows, c.depth, 1), randomMatrix(c.depth, c.columns, 2)
			fusedAVX2().Products.MulNN(randomMatrix(c.rows, c.columns, 3), a, b, &s)
			// The middle of each panel, as packing may write a little behind the last. They
			// are as deep as a block of k, of which the deepest here has two.
			depth, panels := c.depth/(c.depth/blockDepth+1), 0
			for i := range 3 {
				if s.left[(6*i+3)*depth] != unwritten {
					panels++
				}
			}
			require.Equal(t, c.packed, panels)
		})
	}
}
