package layers

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// reads says which rows of its inputs a row of an operator's result depends on.
type reads int

const (
	// everyRow: any of them.
	everyRow reads = iota
	// ofNeighbours: of the first input any, of the others, and of features, the same row.
	ofNeighbours
	// sameRow: the same row alone, or inputs without rows, such as weights.
	sameRow
)

// bandRows is how many rows pass through row-wise operators together: so many that packing the weights again
// does not count, and so few that their results stay in the second-level cache of today's processors. Of
// layers that are wider there are as many as the widest has columns, for weights take longer to pack then.
const bandRows = 192

// span is some of the rows of a batch, all if count is 0.
type span struct{ from, count int }

// rows returns the rows that operators work on.
func (w *Workspace) rows() (from, count int) {
	if w.band.count > 0 {
		return w.band.from, w.band.count
	}
	return 0, w.Batch.Rows
}

// part is operators that run one after the other, on all rows or on one band after the other.
type part struct {
	steps  []planned
	banded bool
}

// parts splits the operators of a plan so that those that work row by row run band by band. The result of one
// that only others of its part read passes: each band of it takes the place of the one before.
//
// A program with gradients reads most results again, and a batch norm in training needs all rows: their plans
// have one part.
func (b *Builder) parts(steps []planned) []part {
	if b.Training || b.terms != nil {
		return []part{{steps: steps}}
	}
	var parts []part
	partOf := make(map[gorgonia.Value]int)
	for _, s := range steps {
		last := len(parts) - 1
		if banded := s.op.reads != everyRow; last < 0 || banded != parts[last].banded || s.op.reads == ofNeighbours {
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

// widest returns the most columns that a result has.
func (p *part) widest() int {
	most := 0
	for _, s := range p.steps {
		most = max(most, s.op.out.Shape()[1])
	}
	return most
}

// live returns the rows of a value that operators work on. What lies behind them is left over from other
// batches, or bands, and is never read.
func (b *Builder) live(v gorgonia.Value) kernels.Matrix {
	from, count := b.Work.rows()
	if b.passing[v] {
		from = 0
	}
	return rowsOf(v, from, count)
}

// all returns every row of the current batch, of a value that does not pass.
func (b *Builder) all(v gorgonia.Value) kernels.Matrix { return rowsOf(v, 0, b.Work.Batch.Rows) }

func rowsOf(v gorgonia.Value, from, count int) kernels.Matrix {
	d := v.(*tensor.Dense)
	cols := d.Shape()[1]
	return kernels.Matrix{Rows: count, Cols: cols, Data: d.Float32s()[from*cols : (from+count)*cols]}
}

// rows returns some rows of features, which it aliases.
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
