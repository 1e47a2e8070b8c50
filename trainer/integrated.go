package trainer

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/trainer/integral"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// integrate attributes a network's logit to features by integrated gradients, from no
// feature known to the graph as it is.
func integrate(ctx context.Context, e *Engine, c *Checkpoint, in Input, row int) (*Attribution, error) {
	p := project(c.Network)
	alone, err := newWay(e, p, Input{Rows: 1, Cols: in.Cols, Features: make([]float32, in.Cols)}, 0).visit([]float64{0})
	if err != nil {
		return nil, err
	}
	sum, err := integral.Along(ctx, newWay(e, p, in, row).visit)
	if err != nil {
		return nil, err
	}
	return &Attribution{
		Logit: sum.Last, Base: alone[0].Value, Shape: sum.First - alone[0].Value,
		Features: sum.Terms[:in.Cols:in.Cols], Rows: sum.Terms[in.Cols:],
	}, nil
}

// rowsTogether is about how many rows a program takes at once.
const rowsTogether = 2048

// way leads from a graph without features to the graph.
type way struct {
	engine *Engine
	projection
	graph Input
	row   int
	// own are the features of the row, with 0 for missing ones, and features those of the
	// graph as the projected network takes them.
	own, features []float32
}

func newWay(e *Engine, p projection, in Input, row int) *way {
	in.Features = lethe.ZeroMissing(in.Features)
	return &way{
		engine: e, projection: p, graph: in, row: row, own: in.row(row), features: p.of(in.Features, e.kernels),
	}
}

// visit computes points, whose terms are those of the row's own features and then those of
// all rows. Several go through the network as one graph of copies.
func (w *way) visit(at []float64) ([]integral.Point, error) {
	together := max(1, min(len(at), rowsTogether/w.graph.Rows))
	var out []integral.Point
	for from := 0; from < len(at); from += together {
		points, err := w.visitTogether(at[from:min(len(at), from+together)])
		if err != nil {
			return nil, err
		}
		out = append(out, points...)
	}
	return out, nil
}

func (w *way) visitTogether(at []float64) ([]integral.Point, error) {
	a, rows := w.network.Architecture, w.graph.Rows
	batch := w.copies(at)
	p, err := w.engine.idle.take(programShape{
		architecture: a, form: models.Differentiable, capacity: capacityFor(batch.Rows), explaining: true,
	}, w.engine.kernels)
	if err != nil {
		return nil, err
	}
	defer w.engine.idle.give(p)
	copy(p.Params.Values, w.network.Params)
	copy(p.Buffers.Values, w.network.Buffers)
	p.Load(batch)
	clear(p.upstream)
	for i := range at {
		node := (i*rows + w.row) * a.Classes
		p.upstream[node], p.upstream[node+1] = -1, 1
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	out, logits := make([]integral.Point, len(at)), layers.Result(p.Logits)
	for i := range at {
		node := (i*rows + w.row) * a.Classes
		out[i] = integral.Point{
			At: at[i], Value: float64(logits[node+1]) - float64(logits[node]),
			Terms: w.slopes(p.gradients[0][i*rows*a.Features : (i+1)*rows*a.Features]),
		}
		check := out[i].Value
		for _, v := range out[i].Terms {
			check += v
		}
		if check-check != 0 {
			return nil, fmt.Errorf("logit or gradient of a row: %w", ErrNotFinite)
		}
	}
	return out, nil
}

// copies is the graph once per point, with features scaled by how far on the way it is.
func (w *way) copies(at []float64) *layers.Batch {
	g := w.graph
	features := kernels.Matrix{Rows: g.Rows * len(at), Cols: w.columns()}
	edges := make([]lethe.Edge, 0, len(g.Edges)*len(at))
	for i, scale := range at {
		for _, v := range w.features {
			features.Data = append(features.Data, float32(scale*float64(v)))
		}
		first := uint32(i * g.Rows)
		for _, e := range g.Edges {
			edges = append(edges, lethe.Edge{A: first + e.A, B: first + e.B})
		}
	}
	return &layers.Batch{
		Rows: features.Rows, Features: layers.Features{Dense: features}, Graph: layers.NewGraph(features.Rows, edges),
	}
}

// slopes adds up the gradient along the way.
func (w *way) slopes(gradient []float32) []float64 {
	cols := w.columns()
	out := make([]float64, len(w.own)+w.graph.Rows)
	features, rows := out[:len(w.own)], out[len(w.own):]
	for i := range rows {
		for at := i * cols; at < (i+1)*cols; at++ {
			rows[i] += float64(float64(w.features[at]) * float64(gradient[at]))
		}
	}
	rows[w.row] = 0
	w.terms(features, w.own, gradient[w.row*cols:(w.row+1)*cols])
	return out
}

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

// terms stores every feature of a row times its gradient, from the gradient for what the
// projected network takes.
func (p projection) terms(dst []float64, features, gradient []float32) {
	for f, v := range features {
		if p.weights == nil {
			dst[f] = float64(v) * float64(gradient[f])
			continue
		}
		sum := 0.0
		for k, w := range p.weights[f*len(gradient) : (f+1)*len(gradient)] {
			sum += float64(float64(w) * float64(gradient[k]))
		}
		dst[f] = float64(float64(v) * sum)
	}
}
