package graphlayers

import (
	"slices"

	"gorgonia.org/gorgonia"

	"lethe/lab/networks/loops"
	"lethe/trainer/layers"
)

// Dropout adds x·mask/(1−p), where each element of the mask is 0 with probability p and 1
// otherwise (Srivastava et al., JMLR 2014). In evaluation it is x itself. The mask is keyed by
// step, layer, node and column: removing a node changes no other node's mask.
func Dropout(b *layers.Builder, x *gorgonia.Node, p float64) *gorgonia.Node {
	if p == 0 || !b.Training {
		return x
	}
	site := b.Site()
	if from, ok := b.Sources[x]; ok {
		return dropSource(b, x, from, site, p)
	}
	out, mask := b.NewRows(layers.Width(x)), b.NewRows(layers.Width(x))
	return b.Apply(layers.Operation{
		Kind: "dropout", Inputs: gorgonia.Nodes{x}, Out: out,
		Run: func(in []gorgonia.Value) error {
			keep := b.Live(mask)
			for i := range keep.Rows {
				maskRow(b.Work, keep.Row(i), site, i, p)
			}
			b.Work.Kernels.Elements.Multiply(b.Live(out).Data, b.Live(in[0]).Data, keep.Data)
			return nil
		},
		Pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(layers.Width(y))
			return gorgonia.Nodes{b.Apply(layers.Operation{
				Kind: "dropout.x", Inputs: gorgonia.Nodes{grad, y}, Out: back,
				Run: func(in []gorgonia.Value) error {
					b.Work.Kernels.Elements.Multiply(b.Live(back).Data, b.Live(in[0]).Data, b.Live(mask).Data)
					return nil
				},
			})}
		},
	})
}

// maskRow stores 0 or 1/(1−p) for every column of a row.
func maskRow(w *layers.Workspace, mask []float32, site uint64, row int, p float64) {
	rest := kept(p)
	if derived(w).Replace != nil {
		for c := range mask {
			mask[c] = 0
			if derived(w).Replace.Keep(Draw{Site: site, Row: row, Column: c}) {
				mask[c] = rest
			}
		}
		return
	}
	loops.Of(w.Kernels).Draws.Mask(mask, rowKey(w, site, row), dropLimit(p), rest)
}

// kept returns the factor of values that are not dropped.
func kept(p float64) float32 { return float32(1 / (1 - p)) }

// dropSource is dropout of features: a source whose values are masked when the node's operator
// runs. For sparse features it draws only for the nonzero values, with the same result as for
// dense ones.
func dropSource(b *layers.Builder, x *gorgonia.Node, from layers.Source, site uint64, p float64) *gorgonia.Node {
	cols := layers.Width(x)
	var dropped layers.Features
	var values []float32
	n := b.Apply(layers.Operation{
		Kind: "dropout.source", Inputs: gorgonia.Nodes{x}, Out: layers.Dense(make([]float32, cols), 1, cols),
		Run: func([]gorgonia.Value) error {
			original := from()
			if original.Sparse == nil {
				m := original.Dense
				values = slices.Grow(values[:0], len(m.Data))[:len(m.Data)]
				dropped = layers.Features{Dense: m}
				dropped.Dense.Data = values
				for i := range m.Rows {
					maskRow(b.Work, dropped.Dense.Row(i), site, i, p)
				}
				b.Work.Kernels.Elements.Multiply(values, m.Data, values)
				return nil
			}
			s := original.Sparse
			values = slices.Grow(values[:0], len(s.Values))[:len(s.Values)]
			maskSparse(b.Work, values, s, site, p)
			if dropped.Sparse == nil {
				dropped.Sparse = new(layers.Sparse)
			}
			dropped.Sparse.Mask(s, values)
			dropped.Dense = original.Dense
			return nil
		},
	})
	b.Sources[n] = func() layers.Features { return dropped }
	return n
}

func maskSparse(w *layers.Workspace, dst []float32, s *layers.Sparse, site uint64, p float64) {
	rest, limit := kept(p), dropLimit(p)
	for i := range s.Rows {
		from, to := s.Starts[i], s.Starts[i+1]
		loops.Of(w.Kernels).Draws.MaskColumns(dst[from:to], s.Values[from:to], s.Drawn()[from:to], rowKey(w, site, i),
			limit, rest)
	}
}
