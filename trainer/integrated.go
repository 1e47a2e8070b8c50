package trainer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// integrate attributes a network's logit to features by integrated gradients, from no
// feature known to the graph as it is.
func (e *Engine) integrate(ctx context.Context, c *Checkpoint, in Input, row int) (*Attribution, error) {
	p := project(c.Network)
	w := e.newWay(p, in, row)
	alone, err := e.newWay(p, Input{Rows: 1, Cols: in.Cols, Features: make([]float32, in.Cols)}, 0).visit([]float64{0})
	if err != nil {
		return nil, err
	}
	points, err := w.walk(ctx)
	if err != nil {
		return nil, err
	}
	first, last := points[0], points[len(points)-1]
	a := &Attribution{
		Logit: last.value, Base: alone[0].value, Shape: first.value - alone[0].value,
		Features: make([]float64, in.Cols), Rows: make([]float64, in.Rows),
	}
	for i := 1; i < len(points); i++ {
		from, to, s := points[i-1], points[i], stretchOf(points[i-1], points[i])
		addMixed(a.Features, from.features, to.features, s)
		addMixed(a.Rows, from.rows, to.rows, s)
	}
	return a, nil
}

// addMixed adds the mean slopes of a stretch, times its length.
func addMixed(dst, from, to []float64, s stretch) {
	for i := range dst {
		dst[i] += s.length * (float64(s.share*from[i]) + float64((1-s.share)*to[i]))
	}
}

// point is a place on the way: the logit there, and by what it grows along the way, in all
// and by features of the row and by other rows.
type point struct {
	at, value, slope float64
	features, rows   []float64
}

// stretch is the way between two points that follow each other.
type stretch struct {
	length float64
	// share is for how much of it the slope is that of its beginning: what makes the
	// values at its ends right.
	share float64
	// missed is by how much they are not, and turned by how much the terms at its ends
	// differ, times its length: no term is further off than that.
	missed, turned float64
}

// stretchOf tells where the slope changes between two points. A network of ReLUs is linear
// in pieces along the way, so a stretch with one change is met exactly.
func stretchOf(from, to point) stretch {
	s := stretch{length: to.at - from.at, share: .5}
	mean := (to.value - from.value) / s.length
	if from.slope != to.slope {
		s.share = min(1, max(0, (mean-to.slope)/(from.slope-to.slope)))
	}
	met := float64(s.share*from.slope) + float64((1-s.share)*to.slope)
	s.missed = s.length * math.Abs(mean-met)
	for i, v := range from.features {
		s.turned += s.length * math.Abs(to.features[i]-v)
	}
	for i, v := range from.rows {
		s.turned += s.length * math.Abs(to.rows[i]-v)
	}
	return s
}

const (
	// firstStretches is into how many stretches the way is divided, and mostPoints how
	// many points there may be once stretches that miss were halved.
	firstStretches, mostPoints = 8, 1025
	// mayMiss is what all stretches together may miss, and mayTurn what each may turn, in
	// logits.
	mayMiss, mayTurn = 5e-4, .5
	// rowsTogether is about how many rows a program takes at once.
	rowsTogether = 2048
)

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

func (e *Engine) newWay(p projection, in Input, row int) *way {
	in.Features = lethe.ZeroMissing(in.Features)
	return &way{
		engine: e, projection: p, graph: in, row: row, own: in.row(row), features: p.of(in.Features, e.kernels),
	}
}

// walk visits as many points as it takes for the attributions to add up.
func (w *way) walk(ctx context.Context) ([]point, error) {
	at := make([]float64, firstStretches+1)
	for i := range at {
		at[i] = float64(i) / firstStretches
	}
	points, err := w.visit(at)
	for err == nil && len(points) < mostPoints {
		var places []int
		if places, at = coarse(points); len(places) == 0 {
			break
		}
		if err = ctx.Err(); err != nil {
			return nil, err
		}
		var between []point
		between, err = w.visit(at)
		for i := len(between) - 1; i >= 0; i-- {
			points = slices.Insert(points, places[i], between[i])
		}
	}
	return points, err
}

// coarse returns the stretches that are to be halved, by the points that end them, and
// their middles.
func coarse(points []point) (places []int, at []float64) {
	missed := 0.0
	stretches := make([]stretch, len(points))
	for i := 1; i < len(points); i++ {
		stretches[i] = stretchOf(points[i-1], points[i])
		missed += stretches[i].missed
	}
	for i := 1; i < len(points); i++ {
		misses := missed > mayMiss && stretches[i].missed > mayMiss/float64(len(points))
		if misses || stretches[i].turned > mayTurn {
			places, at = append(places, i), append(at, (points[i-1].at+points[i].at)/2)
		}
	}
	return places, at
}

// visit computes points. Several go through the network as one graph of copies.
func (w *way) visit(at []float64) ([]point, error) {
	together := max(1, min(len(at), rowsTogether/w.graph.Rows))
	var out []point
	for from := 0; from < len(at); from += together {
		points, err := w.visitTogether(at[from:min(len(at), from+together)])
		if err != nil {
			return nil, err
		}
		out = append(out, points...)
	}
	return out, nil
}

func (w *way) visitTogether(at []float64) ([]point, error) {
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
	out, logits := make([]point, len(at)), layers.Result(p.Logits)
	for i := range at {
		node := (i*rows + w.row) * a.Classes
		out[i] = w.slopes(p.gradients[0][i*rows*a.Features : (i+1)*rows*a.Features])
		out[i].at, out[i].value = at[i], float64(logits[node+1])-float64(logits[node])
		if v := out[i].value + out[i].slope; v-v != 0 {
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
func (w *way) slopes(gradient []float32) point {
	cols := w.columns()
	p := point{features: make([]float64, len(w.own)), rows: make([]float64, w.graph.Rows)}
	for i := range p.rows {
		for at := i * cols; at < (i+1)*cols; at++ {
			p.rows[i] += float64(w.features[at]) * float64(gradient[at])
		}
		p.slope += p.rows[i]
	}
	p.rows[w.row] = 0
	w.terms(p.features, w.own, gradient[w.row*cols:(w.row+1)*cols])
	return p
}
