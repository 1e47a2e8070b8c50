package kernels

import "github.com/viterin/vek/vek32"

const (
	// vekLanes is the number of columns that vek's inner loop takes at once;
	// what is left over runs one value at a time, so columns are padded to it.
	vekLanes = 32
	// vekPanelColumns bounds the columns of b in use at once, so that the
	// panel stays in the second-level cache while the rows of a pass by.
	vekPanelColumns = 128
	// vekSerialOperations is the size from which vek32.MatMul_Into starts
	// goroutines. Products are cut into blocks of rows below it.
	vekSerialOperations = 100_000
)

// Vek uses github.com/viterin/vek: AVX2 and fused multiply-add. Every
// element of a product is summed over k in ascending order by fused steps,
// whatever block it lies in.
type Vek struct{}

// Name implements Set.
func (Vek) Name() string { return VekName }

// MulNN implements Set.
func (Vek) MulNN(dst, a, b Matrix, s *Scratch) {
	if a.Cols == 0 {
		clear(dst.Data)
		return
	}
	if b.Cols%vekLanes == 0 && b.Cols <= vekPanelColumns {
		vekProduct(dst.Data, a, b)
		return
	}
	for from := 0; from < b.Cols; from += vekPanelColumns {
		live := min(vekPanelColumns, b.Cols-from)
		panel := Matrix{Rows: b.Rows, Cols: (live + vekLanes - 1) / vekLanes * vekLanes}
		panel.Data = room(&s.out, (b.Rows+a.Rows)*panel.Cols)[:b.Rows*panel.Cols]
		out := Matrix{Rows: a.Rows, Cols: panel.Cols, Data: s.out[len(panel.Data) : len(panel.Data)+a.Rows*panel.Cols]}
		for k := range b.Rows {
			// The padding reaches no result, but numbers left there could be
			// tiny ones, which processors multiply slowly.
			row := panel.Row(k)
			clear(row[copy(row, b.Row(k)[from:from+live]):])
		}
		vekProduct(out.Data, a, panel)
		for i := range a.Rows {
			copy(dst.Row(i)[from:from+live], out.Row(i))
		}
	}
}

// MulNT implements Set through a transposed copy of b.
func (v Vek) MulNT(dst, a, b Matrix, s *Scratch) {
	v.MulNN(dst, a, transpose(room(&s.right, len(b.Data)), b), s)
}

// MulTN implements Set through a transposed copy of a.
func (v Vek) MulTN(dst, a, b Matrix, s *Scratch) {
	v.MulNN(dst, transpose(room(&s.left, len(a.Data)), a), b, s)
}

// Add implements Set.
func (Vek) Add(dst, x []float32) { vek32.Add_Inplace(dst, x) }

// Scale implements Set.
func (Vek) Scale(dst, x []float32, alpha float32) { vek32.MulNumber_Into(dst, x, alpha) }

// vekProduct stores a·b in blocks of rows too small for vek to go parallel.
func vekProduct(dst []float32, a, b Matrix) {
	block := max(3, (vekSerialOperations-1)/(a.Cols*b.Cols))
	for from := 0; from < a.Rows; from += block {
		to := min(from+block, a.Rows)
		vek32.MatMul_Into(dst[from*b.Cols:to*b.Cols], a.Data[from*a.Cols:to*a.Cols], b.Data, a.Cols)
	}
}
