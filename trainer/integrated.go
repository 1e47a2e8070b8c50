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

// rowsTogether is the approximate number of rows in one program call.
const rowsTogether = 1024

// paths lead from graphs without features to the graphs, through the mean of networks. All
// networks are evaluated at the same places: a change of gradient in one of many hardly affects
// their mean, so few places suffice.
type paths struct {
	engine   *Engine
	each     Each
	models   []*Checkpoint
	networks []projection
	// spots have 0 for missing features; features are those of each spot in the form of each
	// network's input.
	spots    []Spot
	features [][][]float32
}

func newPaths(e *Engine, each Each, models []*Checkpoint, spots []Spot) *paths {
	p := &paths{engine: e, each: each, models: models, spots: slices.Clone(spots)}
	for i := range p.spots {
		p.spots[i].Graph.Features = lethe.ZeroMissing(p.spots[i].Graph.Features)
	}
	for _, c := range models {
		network := project(c.Network, e.idle.networks)
		features := make([][]float32, len(spots))
		for i, s := range p.spots {
			features[i] = network.of(s.Graph.Features, e.kernels)
		}
		p.networks, p.features = append(p.networks, network), append(p.features, features)
	}
	return p
}

// integrate attributes the mean logit of networks to features by integrated gradients, from
// graphs without any known feature to the given graphs.
func integrate(
	ctx context.Context, e *Engine, each Each, models []*Checkpoint, spots []Spot,
) ([]*Attribution, error) {
	cols := spots[0].Graph.Cols
	nothing := []Spot{{Graph: Input{Rows: 1, Cols: cols, Features: make([]float32, cols)}}}
	alone, err := newPaths(e, each, models, nothing).visit(ctx, []integral.Place{{}})
	if err != nil {
		return nil, err
	}
	p := newPaths(e, each, models, spots)
	sums, err := integral.Along(ctx, len(spots), func(places []integral.Place) ([]integral.Point, error) {
		return p.visit(ctx, places)
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Attribution, len(spots))
	for i, sum := range sums {
		out[i] = &Attribution{
			Logit: sum.Last, Base: alone[0].Value, Shape: sum.First - alone[0].Value,
			Features: sum.Terms[:cols:cols], Rows: sum.Terms[cols:],
		}
	}
	return out, nil
}

// visit computes points, whose terms are those of the row's own features and then those of all
// rows.
func (p *paths) visit(ctx context.Context, places []integral.Place) ([]integral.Point, error) {
	var parts []copies
	for len(places) > 0 {
		part := p.copies(places)
		parts, places = append(parts, part), places[len(part.places):]
	}
	points := make([][]integral.Point, len(parts)*len(p.networks))
	err := p.each(ctx, len(points), func(_ context.Context, i int) (err error) {
		network := i % len(p.networks)
		points[i], err = p.ask(network, parts[i/len(p.networks)])
		if c := p.models[network]; err != nil {
			return fmt.Errorf("explain by shard %d timestep %d: %w", c.Shard, c.Timestep, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []integral.Point
	for same := range slices.Chunk(points, len(p.networks)) {
		out = append(out, integral.Mean(same)...)
	}
	return out, nil
}

// copies are graphs, one per place, merged into one graph.
type copies struct {
	places []integral.Place
	// first is the first row of each graph.
	first []int
	rows  int
	graph *layers.Graph
}

// copies merges the first of some places, as many as fit into one program call.
func (p *paths) copies(places []integral.Place) (c copies) {
	var edges []lethe.Edge
	for i, place := range places {
		g := p.spots[place.Way].Graph
		if i > 0 && c.rows+g.Rows > rowsTogether {
			break
		}
		first := uint32(c.rows)
		for _, e := range g.Edges {
			edges = append(edges, lethe.Edge{A: first + e.A, B: first + e.B})
		}
		c.first, c.rows, c.places = append(c.first, c.rows), c.rows+g.Rows, places[:i+1]
	}
	c.graph = layers.NewGraph(c.rows, edges)
	return c
}

// ask computes a network's points.
func (p *paths) ask(network int, c copies) ([]integral.Point, error) {
	n := p.networks[network]
	a := n.network.Architecture
	program, err := p.engine.idle.take(programShape{
		architecture: a, form: models.Differentiable, capacity: capacityFor(c.rows), explaining: true,
	})
	if err != nil {
		return nil, err
	}
	defer p.engine.idle.give(program)
	copy(program.Params.Values, n.network.Params)
	copy(program.Buffers.Values, n.network.Buffers)
	program.Load(p.batch(network, c))
	clear(program.upstream)
	for i, place := range c.places {
		node := (c.first[i] + p.spots[place.Way].Row) * a.Classes
		program.upstream[node], program.upstream[node+1] = -1, 1
	}
	if err := program.run(); err != nil {
		return nil, err
	}
	return p.points(network, c, layers.Result(program.Logits), program.gradients[0])
}

// batch returns the features scaled by each copy's position on the path.
func (p *paths) batch(network int, c copies) *layers.Batch {
	columns := p.networks[network].columns()
	features := make([]float32, 0, c.rows*columns)
	for _, place := range c.places {
		for _, v := range p.features[network][place.Way] {
			features = append(features, float32(place.At*float64(v)))
		}
	}
	b := &layers.Batch{
		Rows: c.rows, Graph: c.graph, Features: layers.Features{Dense: matrix(features, columns)},
	}
	a := p.networks[network].network.Architecture
	p.engine.idle.networks.Prepare(a, b, models.Differentiable, features, p.engine.kernels)
	return b
}

// points sums the gradients along the paths.
func (p *paths) points(network int, c copies, logits, gradient []float32) ([]integral.Point, error) {
	n, own := p.networks[network], []float32(nil)
	columns, classes := n.columns(), n.network.Architecture.Classes
	for i, place := range c.places {
		row := (c.first[i] + p.spots[place.Way].Row) * columns
		own = append(own, gradient[row:row+columns]...)
	}
	own = n.back(own, p.engine.kernels)
	out := make([]integral.Point, len(c.places))
	for i, place := range c.places {
		spot, features := p.spots[place.Way], p.features[network][place.Way]
		node, cols := (c.first[i]+spot.Row)*classes, spot.Graph.Cols
		terms := make([]float64, cols+spot.Graph.Rows)
		for f, v := range spot.Graph.row(spot.Row) {
			terms[f] = float64(v) * float64(own[i*cols+f])
		}
		slopes := gradient[c.first[i]*columns:]
		for k := range spot.Graph.Rows {
			sum := 0.0
			for at := k * columns; at < (k+1)*columns && k != spot.Row; at++ {
				sum += float64(float64(features[at]) * float64(slopes[at]))
			}
			terms[cols+k] = sum
		}
		out[i] = integral.Point{Value: float64(logits[node+1]) - float64(logits[node]), Terms: terms}
		check := out[i].Value
		for _, v := range terms {
			check += v
		}
		if check-check != 0 {
			return nil, fmt.Errorf("logit or gradient of a row: %w", ErrNotFinite)
		}
	}
	return out, nil
}

// projection is a network whose input is features multiplied by all its first-layer weights at
// once, which often have fewer columns than there are features. It computes the same function.
type projection struct {
	network Network
	// weights is features × columns; nil if the network is unchanged.
	weights []float32
}

// project returns the projection of a network, or the network itself if that does not reduce the
// columns.
func project(n Network, networks models.Families) projection {
	a := n.Architecture
	before, _ := networks.Tensors(a)
	a.Features++
	other, _ := networks.Tensors(a)
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
	after, _ := networks.Tensors(p.network.Architecture)
	to := layers.NewTensors(after)
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

// columns is the number of values per input row of the projected network.
func (p projection) columns() int { return p.network.Architecture.Features }

// of returns rows of features as input of the projected network.
func (p projection) of(features []float32, set kernels.Set) []float32 {
	if p.weights == nil {
		return features
	}
	weights := matrix(p.weights, p.columns())
	x := matrix(features, weights.Rows)
	out := matrix(make([]float32, x.Rows*weights.Cols), weights.Cols)
	set.Products.MulNN(out, x, weights, &kernels.Scratch{})
	return out.Data
}

// back returns the gradients for features of rows, given those for the projected network's input.
func (p projection) back(gradients []float32, set kernels.Set) []float32 {
	if p.weights == nil {
		return gradients
	}
	weights := matrix(p.weights, p.columns())
	x := matrix(gradients, weights.Cols)
	out := matrix(make([]float32, x.Rows*weights.Rows), weights.Rows)
	set.Products.MulNT(out, x, weights, &kernels.Scratch{})
	return out.Data
}

func matrix(values []float32, columns int) kernels.Matrix {
	return kernels.Matrix{Rows: len(values) / columns, Cols: columns, Data: values}
}
