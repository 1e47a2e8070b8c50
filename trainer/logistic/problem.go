package logistic

import (
	"math"
	"slices"

	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

// problem is the loss of a fit. Weights are laid out score by score, each
// followed by its intercept.
type problem struct {
	rows   tabular.Rows
	config Config
	model  *Model
	// inputs are the standardised rows; shift and scale are what they were
	// standardised by.
	inputs       []float64
	shift, scale []float64
	total        float64
	// at is where the loss was evaluated last, mean the loss there without the penalty,
	// and residuals its derivatives by the scores, outputs per row. The solver asks for
	// loss and gradient of one point one after the other.
	at        []float64
	mean      float64
	residuals []float64
}

func newProblem(rows tabular.Rows, config Config) *problem {
	p := &problem{rows: rows, config: config, model: &Model{classes: config.Classes, features: rows.Cols}}
	p.residuals = make([]float64, rows.Len()*p.model.outputs())
	n := float64(rows.Len())
	p.shift, p.scale = make([]float64, rows.Cols), make([]float64, rows.Cols)
	p.inputs = make([]float64, len(rows.Features))
	for f := range rows.Cols {
		sum, squares := 0.0, 0.0
		for i := range rows.Len() {
			sum += float64(rows.Row(i)[f])
		}
		p.shift[f] = sum / n
		for i := range rows.Len() {
			d := float64(rows.Row(i)[f]) - p.shift[f]
			squares += float64(d * d)
		}
		// A constant feature says nothing; its deviations are rounding.
		if p.scale[f] = math.Sqrt(squares / n); p.scale[f] <= 1e-12*math.Abs(p.shift[f]) {
			p.scale[f] = math.Inf(1)
		}
		for i := range rows.Len() {
			p.inputs[i*rows.Cols+f] = (float64(rows.Row(i)[f]) - p.shift[f]) / p.scale[f]
		}
	}
	for i := range rows.Len() {
		p.total += rows.Weight(i)
	}
	return p
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

// evaluate fills mean and residuals, unless they are those of x already.
func (p *problem) evaluate(x []float64) {
	if slices.Equal(p.at, x) {
		return
	}
	p.at, p.mean = append(p.at[:0], x...), 0
	cols, outputs := p.rows.Cols, p.model.outputs()
	for c := range outputs {
		affineRows(p.residuals[c:], outputs, x[c*(cols+1):(c+1)*(cols+1)], p.inputs)
	}
	for i, class := range p.rows.Labels {
		p.mean += float64(p.weight(i) * residuals(p.residuals[i*outputs:(i+1)*outputs], int(class)))
	}
}

// weight is a row's share of the loss.
func (p *problem) weight(row int) float64 { return p.rows.Weight(row) / p.total }

// gradient stores the gradient of the loss.
func (p *problem) gradient(into, x []float64) {
	p.evaluate(x)
	clear(into)
	cols, outputs := p.rows.Cols, p.model.outputs()
	steps := make([]float64, p.rows.Len())
	for c := range outputs {
		for i := range steps {
			steps[i] = float64(p.weight(i) * p.residuals[i*outputs+c])
		}
		addRows(into[c*(cols+1):(c+1)*(cols+1)], steps, p.inputs)
	}
	l2 := p.config.L2 / p.total
	for k, v := range x {
		if k%(cols+1) != cols {
			into[k] += float64(l2 * v)
		}
	}
}

// residuals replaces scores by the derivatives of the log-loss, p - y, and
// returns the loss.
func residuals(scores []float64, class int) float64 {
	if len(scores) == 1 {
		z := scores[0]
		scores[0] = portable.Logistic(z) - float64(class)
		return portable.LogOnePlusExp(z * (1 - 2*float64(class)))
	}
	own := scores[class]
	loss := portable.Softmax(scores) - own
	scores[class]--
	return loss
}

// affine is w·row plus the intercept that follows the weights.
func affine(w, row []float64) float64 {
	sum := w[len(row)]
	for f, v := range row {
		sum += float64(w[f] * v)
	}
	return sum
}

// affineRows stores affine of every row of inputs, each at the stride from the one before.
// Four rows go side by side, so that the processor adds to one while it waits for another.
func affineRows(into []float64, stride int, w, inputs []float64) {
	cols := len(w) - 1
	at := 0
	for ; cols > 0 && len(inputs) >= 4*cols; inputs = inputs[4*cols:] {
		r0, r1, r2, r3 := inputs[:cols], inputs[cols:2*cols], inputs[2*cols:3*cols], inputs[3*cols:4*cols]
		s0, s1, s2, s3 := w[cols], w[cols], w[cols], w[cols]
		for f, v := range w[:cols] {
			s0 += float64(v * r0[f])
			s1 += float64(v * r1[f])
			s2 += float64(v * r2[f])
			s3 += float64(v * r3[f])
		}
		into[at], into[at+stride], into[at+2*stride], into[at+3*stride] = s0, s1, s2, s3
		at += 4 * stride
	}
	for ; at < len(into); at += stride {
		into[at], inputs = affine(w, inputs[:cols]), inputs[cols:]
	}
}

// addRows adds steps times rows to a gradient, which ends with that of the intercept. Four
// rows go at once, so that each sum is loaded and stored once for all of them.
func addRows(into, steps, inputs []float64) {
	cols := len(into) - 1
	for ; len(steps) >= 4; steps, inputs = steps[4:], inputs[4*cols:] {
		r0, r1, r2, r3 := inputs[:cols], inputs[cols:2*cols], inputs[2*cols:3*cols], inputs[3*cols:4*cols]
		for f, sum := range into[:cols] {
			sum += float64(steps[0] * r0[f])
			sum += float64(steps[1] * r1[f])
			sum += float64(steps[2] * r2[f])
			into[f] = sum + float64(steps[3]*r3[f])
		}
		for _, step := range steps[:4] {
			into[cols] += step
		}
	}
	for ; len(steps) > 0; steps, inputs = steps[1:], inputs[cols:] {
		for f, v := range inputs[:cols] {
			into[f] += float64(steps[0] * v)
		}
		into[cols] += steps[0]
	}
}
