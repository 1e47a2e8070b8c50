package logistic

import (
	"math"
	"slices"

	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

// problem is the loss of a fit. Weights are stored score by score, each followed by its
// intercept.
type problem struct {
	rows   tabular.Rows
	config Config
	model  *Model
	// inputs are the standardised rows, each followed by a 1 for the intercept; shift and scale are
	// the parameters of the standardisation.
	inputs       matrix
	shift, scale []float64
	total        float64
	// at is the point of the last evaluation, mean the loss there without the penalty, and slopes
	// its derivatives. The solver requests loss and gradient of a point in sequence, and one pass
	// over the rows computes both.
	at     []float64
	mean   float64
	slopes []float64
	// padded are the weights and slopes of a score as wide as the inputs, scores those of a band of rows, score after
	// score, and steps the contributions of one score's rows to the slopes.
	padded, widened []float64
	scores, steps   []float64
}

func newProblem(rows tabular.Rows, config Config) *problem {
	p := &problem{rows: rows, config: config, model: &Model{classes: config.Classes, features: rows.Cols}}
	p.shift, p.scale = standardisation(rows)
	p.inputs = newMatrix(rows.Len(), rows.Cols+1)
	for i := range rows.Len() {
		into := p.inputs.row(i)
		for f, v := range rows.Row(i) {
			into[f] = float32((float64(v) - p.shift[f]) / p.scale[f])
		}
		into[rows.Cols] = 1
		p.total += rows.Weight(i)
	}
	outputs := p.model.outputs()
	p.slopes = make([]float64, outputs*(rows.Cols+1))
	p.padded, p.widened = make([]float64, outputs*p.inputs.stride), make([]float64, outputs*p.inputs.stride)
	p.scores, p.steps = make([]float64, outputs*band), make([]float64, outputs*band)
	return p
}

// standardisation returns the mean and the standard deviation of every feature.
func standardisation(rows tabular.Rows) (shift, scale []float64) {
	n := float64(rows.Len())
	shift, scale = make([]float64, rows.Cols), make([]float64, rows.Cols)
	for i := range rows.Len() {
		for f, v := range rows.Row(i) {
			shift[f] += float64(v)
		}
	}
	for f := range shift {
		shift[f] /= n
	}
	for i := range rows.Len() {
		for f, v := range rows.Row(i) {
			d := float64(v) - shift[f]
			scale[f] += float64(d * d)
		}
	}
	for f := range scale {
		// A constant feature is useless; its deviations are rounding errors.
		if scale[f] = math.Sqrt(scale[f] / n); scale[f] <= 1e-12*math.Abs(shift[f]) {
			scale[f] = math.Inf(1)
		}
	}
	return shift, scale
}

// loss is the weighted mean log-loss plus the penalty over the total weight.
func (p *problem) loss(x []float64) float64 {
	p.evaluate(x)
	penalty, l2, cols := 0.0, p.config.L2/p.total, p.rows.Cols
	for k, v := range x {
		if k%(cols+1) != cols {
			penalty += float64(l2 / 2 * float64(v*v))
		}
	}
	return p.mean + penalty
}

// gradient stores the gradient of the loss.
func (p *problem) gradient(into, x []float64) {
	p.evaluate(x)
	copy(into, p.slopes)
	l2, cols := p.config.L2/p.total, p.rows.Cols
	for k, v := range x {
		if k%(cols+1) != cols {
			into[k] += float64(l2 * v)
		}
	}
}

// evaluate computes mean and slopes, unless they are already those of x.
func (p *problem) evaluate(x []float64) {
	if slices.Equal(p.at, x) {
		return
	}
	p.at, p.mean = append(p.at[:0], x...), 0
	width, stride, outputs := p.rows.Cols+1, p.inputs.stride, p.model.outputs()
	clear(p.widened)
	for c := range outputs {
		copy(p.padded[c*stride:], x[c*width:(c+1)*width])
	}
	for from := 0; from < p.rows.Len(); from += band {
		rows := p.inputs.band(from)
		for c := range outputs {
			scoreRows(p.scores[c*band:(c+1)*band], p.padded[c*stride:(c+1)*stride], rows)
		}
		p.mean += p.residuals(from)
		for c := range outputs {
			addRows(p.widened[c*stride:(c+1)*stride], p.steps[c*band:(c+1)*band], rows)
		}
	}
	for c := range outputs {
		copy(p.slopes[c*width:(c+1)*width], p.widened[c*stride:])
	}
}

// residuals converts the scores of a band of rows into steps, the derivatives of the loss with
// respect to them, and returns the loss.
func (p *problem) residuals(from int) float64 {
	clear(p.steps)
	labels := p.rows.Labels[from:min(from+band, len(p.rows.Labels))]
	if p.model.outputs() > 1 {
		return p.residualsOfMany(from, labels)
	}
	loss, odds := 0.0, 1.0
	for i, class := range labels {
		z, w := p.scores[i], p.rows.Weight(from+i)
		e := portable.Exp(-math.Abs(z))
		probability := 1 / (1 + e)
		if z < 0 {
			probability = e / (1 + e)
		}
		p.steps[i] = float64((probability - float64(class)) * (w / p.total))
		// The log-loss is ln(1+e^-|z|), plus |z| if the prediction is wrong.
		if (z > 0) == (class == 0) {
			loss += float64(w * math.Abs(z))
		}
		if w == 1 {
			odds *= 1 + e // a band of factors of at most 2 each, and one logarithm
		} else {
			loss += float64(w * portable.Log(1+e))
		}
	}
	return (loss + portable.Log(odds)) / p.total
}

// residualsOfMany is residuals for one score per class.
func (p *problem) residualsOfMany(from int, labels []int32) float64 {
	loss, outputs := 0.0, p.model.outputs()
	scores := make([]float64, outputs)
	for i, class := range labels {
		for c := range scores {
			scores[c] = p.scores[c*band+i]
		}
		own, w := scores[class], p.rows.Weight(from+i)
		loss += float64(w * (portable.Softmax(scores) - own))
		scores[class]--
		for c, residual := range scores {
			p.steps[c*band+i] = float64(residual * (w / p.total))
		}
	}
	return loss / p.total
}

// affine returns w·row plus the intercept that follows the weights.
func affine(w, row []float64) float64 {
	sum := w[len(row)]
	for f, v := range row {
		sum += float64(w[f] * v)
	}
	return sum
}
