package layers

import (
	"slices"

	"gorgonia.org/gorgonia"
)

// Dropout adds x·mask/(1−p), where each element of the mask is 0 with probability p and 1
// otherwise (Srivastava et al., JMLR 2014). In evaluation it is x itself. The mask is keyed by
// step, layer, node and column: removing a node changes no other node's mask.
func Dropout(b *Builder, x *gorgonia.Node, p float64) *gorgonia.Node {
	if b.err != nil || p == 0 || !b.Training {
		return x
	}
	site := b.site()
	if from, ok := b.sources[x]; ok {
		return dropSource(b, x, from, site, p)
	}
	out, mask := b.rows(width(x)), b.rows(width(x))
	return b.apply(operation{
		kind: "dropout", inputs: gorgonia.Nodes{x}, out: out,
		run: func(in []gorgonia.Value) error {
			keep := b.live(mask)
			for i := range keep.Rows {
				b.Work.maskRow(keep.Row(i), site, i, p)
			}
			b.Work.kernels.Elements.Multiply(b.live(out).Data, b.live(in[0]).Data, keep.Data)
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(width(y))
			return gorgonia.Nodes{b.apply(operation{
				kind: "dropout.x", inputs: gorgonia.Nodes{grad, y}, out: back,
				run: func(in []gorgonia.Value) error {
					b.Work.kernels.Elements.Multiply(b.live(back).Data, b.live(in[0]).Data, b.live(mask).Data)
					return nil
				},
			})}
		},
	})
}

// maskRow stores 0 or 1/(1−p) for every column of a row.
func (w *Workspace) maskRow(mask []float32, site uint64, row int, p float64) {
	rest := kept(p)
	if w.Replace != nil {
		for c := range mask {
			mask[c] = 0
			if w.Replace.Keep(Draw{Site: site, Row: row, Column: c}) {
				mask[c] = rest
			}
		}
		return
	}
	w.kernels.Draws.Mask(mask, w.rowKey(site, row), dropLimit(p), rest)
}

// kept returns the factor of values that are not dropped.
func kept(p float64) float32 { return float32(1 / (1 - p)) }

// dropSource is dropout of features: a source whose values are masked when the node's operator
// runs. For sparse features it draws only for the nonzero values, with the same result as for
// dense ones.
func dropSource(b *Builder, x *gorgonia.Node, from source, site uint64, p float64) *gorgonia.Node {
	cols := width(x)
	var dropped Features
	var values []float32
	n := b.apply(operation{
		kind: "dropout.source", inputs: gorgonia.Nodes{x}, out: dense(make([]float32, cols), 1, cols),
		run: func([]gorgonia.Value) error {
			original := from()
			if original.Sparse == nil {
				m := original.Dense
				values = slices.Grow(values[:0], len(m.Data))[:len(m.Data)]
				dropped = Features{Dense: m}
				dropped.Dense.Data = values
				for i := range m.Rows {
					b.Work.maskRow(dropped.Dense.Row(i), site, i, p)
				}
				b.Work.kernels.Elements.Multiply(values, m.Data, values)
				return nil
			}
			s := original.Sparse
			values = slices.Grow(values[:0], len(s.Values))[:len(s.Values)]
			b.Work.maskSparse(values, s, site, p)
			if dropped.Sparse == nil {
				dropped.Sparse = new(Sparse)
			}
			dropped.Sparse.mask(s, values)
			dropped.Dense = original.Dense
			return nil
		},
	})
	b.sources[n] = func() Features { return dropped }
	return n
}

func (w *Workspace) maskSparse(dst []float32, s *Sparse, site uint64, p float64) {
	rest, limit := kept(p), dropLimit(p)
	for i := range s.Rows {
		from, to := s.Starts[i], s.Starts[i+1]
		w.kernels.Draws.MaskColumns(dst[from:to], s.Values[from:to], s.drawn()[from:to], w.rowKey(site, i), limit, rest)
	}
}
