package trainer

import (
	"slices"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// projection is a network that takes its features multiplied by the weights that they meet
// first, side by side: of those there are often fewer columns than features. Both compute
// the same function.
type projection struct {
	network Network
	// weights is features × columns; nil if the network is as it was.
	weights []float32
}

// project returns the projection of a network, or the network itself if that has no fewer
// columns.
func project(n Network) projection {
	a := n.Architecture
	before := a.Parameters()
	a.Features++
	other := a.Parameters()
	columns := 0
	var first []int
	for i, spec := range before.Specs {
		if !slices.Equal(spec.Shape, other.Specs[i].Shape) {
			first = append(first, i)
			columns += spec.Shape[1]
		}
	}
	features := n.Architecture.Features
	if columns >= features {
		return projection{network: n}
	}
	p := projection{network: n, weights: make([]float32, features*columns)}
	p.network.Architecture.Features = columns
	from := layers.Tensors{Layout: before, Values: n.Params}
	to := layers.NewTensors(p.network.Architecture.Parameters())
	column := 0
	for i, spec := range before.Specs {
		values := from.Slice(i)
		if !slices.Contains(first, i) {
			copy(to.Slice(i), values)
			continue
		}
		wide := spec.Shape[1]
		for f := range features {
			copy(p.weights[f*columns+column:], values[f*wide:(f+1)*wide])
		}
		for k := range wide {
			to.Slice(i)[(column+k)*wide+k] = 1
		}
		column += wide
	}
	p.network.Params = to.Values
	return p
}

// columns is how many values of a row the projected network takes.
func (p projection) columns() int { return p.network.Architecture.Features }

// of returns rows of features as the projected network takes them.
func (p projection) of(features []float32, set kernels.Set) []float32 {
	if p.weights == nil {
		return features
	}
	weights := kernels.Matrix{Rows: len(p.weights) / p.columns(), Cols: p.columns(), Data: p.weights}
	x := kernels.Matrix{Rows: len(features) / weights.Rows, Cols: weights.Rows, Data: features}
	out := kernels.Matrix{Rows: x.Rows, Cols: weights.Cols, Data: make([]float32, x.Rows*weights.Cols)}
	set.Products.MulNN(out, x, weights, &kernels.Scratch{})
	return out.Data
}

// back returns the gradients for features of rows, from those for what the projected network
// takes.
func (p projection) back(gradients []float32, set kernels.Set) []float32 {
	if p.weights == nil {
		return gradients
	}
	weights := kernels.Matrix{Rows: len(p.weights) / p.columns(), Cols: p.columns(), Data: p.weights}
	x := kernels.Matrix{Rows: len(gradients) / weights.Cols, Cols: weights.Cols, Data: gradients}
	out := kernels.Matrix{Rows: x.Rows, Cols: weights.Rows, Data: make([]float32, x.Rows*weights.Rows)}
	set.Products.MulNT(out, x, weights, &kernels.Scratch{})
	return out.Data
}
