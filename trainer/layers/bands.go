package layers

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// Reads describes which rows of its inputs a row of an operator's result depends on.
type Reads int

const (
	// EveryRow means any row.
	EveryRow Reads = iota
	// OfNeighbours means any row of the first input, and the same row of the others and of features.
	OfNeighbours
	// SameRow means only the same row, or inputs without rows, such as weights.
	SameRow
)

// bandRows is the number of rows in a band of row-wise operators: large enough to amortise packing the weights
// again, and small enough that results stay in the second-level cache of current processors. For wider layers a
// band has as many rows as the widest layer has columns, because packing the weights then takes longer.
const bandRows = 192

// span is a range of rows of a batch; all rows if count is 0.
type span struct{ from, count int }

// rows returns the current rows.
func (w *Workspace) rows() (from, count int) {
	if w.band.count > 0 {
		return w.band.from, w.band.count
	}
	return 0, w.Batch.Rows
}

// part is a list of operators that run in sequence, either on all rows or band by band.
type part struct {
	steps  []planned
	banded bool
}

// parts splits the operators of a plan so that row-wise ones run band by band. The result of an operator that only
// operators of its own part read holds just the current band.
//
// A program with gradients reads most results again, and a batch norm in training needs all rows: their plans have
// one part.
func (b *Builder) parts(steps []planned) []part {
	if b.Training || b.terms != nil {
		return []part{{steps: steps}}
	}
	var parts []part
	partOf := make(map[gorgonia.Value]int)
	for _, s := range steps {
		last := len(parts) - 1
		if banded := s.op.reads != EveryRow; last < 0 || banded != parts[last].banded || s.op.reads == OfNeighbours {
			parts = append(parts, part{banded: banded})
			last++
		}
		parts[last].steps = append(parts[last].steps, s)
		partOf[s.op.out] = last
	}
	read := make(map[gorgonia.Value]bool)
	kept := make(map[gorgonia.Value]bool)
	for i, p := range parts {
		for _, s := range p.steps {
			for _, in := range s.in {
				read[in] = true
				kept[in] = kept[in] || partOf[in] != i || !p.banded
			}
		}
	}
	for v := range partOf {
		if b.perRow[v] && read[v] && !kept[v] {
			b.passing[v] = true
		}
	}
	return parts
}

// run runs the operators on all rows of the workspace's batch.
func (p *part) run(w *Workspace) error {
	if !p.banded {
		return p.once()
	}
	defer func() { w.band = span{} }()
	rows, atOnce := w.Batch.Rows, max(bandRows, p.widest())
	for from := 0; from < rows; from += atOnce {
		w.band = span{from, min(atOnce, rows-from)}
		if err := p.once(); err != nil {
			return err
		}
	}
	return nil
}

// once runs each operator once.
func (p *part) once() error {
	for i := range p.steps {
		if err := p.steps[i].op.run(p.steps[i].in); err != nil {
			return err
		}
	}
	return nil
}

// widest returns the largest number of columns of a result.
func (p *part) widest() int {
	most := 0
	for _, s := range p.steps {
		most = max(most, s.op.out.Shape()[1])
	}
	return most
}

// Live returns the current rows of a value. Rows after them are left over from other batches or bands and are never
// read.
func (b *Builder) Live(v gorgonia.Value) kernels.Matrix {
	from, count := b.Work.rows()
	if b.passing[v] {
		from = 0
	}
	return rowsOf(v, from, count)
}

// all returns every row of the current batch, for a value that is not limited to a band.
func (b *Builder) all(v gorgonia.Value) kernels.Matrix { return rowsOf(v, 0, b.Work.Batch.Rows) }

func rowsOf(v gorgonia.Value, from, count int) kernels.Matrix {
	d := v.(*tensor.Dense)
	cols := d.Shape()[1]
	return kernels.Matrix{Rows: count, Cols: cols, Data: d.Float32s()[from*cols : (from+count)*cols]}
}

// rows returns a range of rows of features, aliasing them.
func (f Features) rows(from, count int) Features {
	f.Dense.Rows = count
	if f.Sparse == nil {
		f.Dense.Data = f.Dense.Data[from*f.Dense.Cols : (from+count)*f.Dense.Cols]
		return f
	}
	if count < f.Sparse.Rows {
		s := *f.Sparse
		s.Rows, s.Starts, s.transposed = count, s.Starts[from:from+count+1], nil
		f.Sparse = &s
	}
	return f
}
