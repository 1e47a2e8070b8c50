package attack

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

const (
	// ridge keeps the weights finite where classes can be separated, and unique
	// where entries depend on each other, as those of a posterior do.
	ridge           = 1e-3
	newtonSteps     = 50
	newtonTolerance = 1e-10
)

// fitLogistic fits a logistic regression on standardised entries by Newton's
// method; the sum of the log losses plus ridge/2 |w|² times the number of
// samples is lowest.
func fitLogistic(samples [][]float64, member []bool) (classifier, error) {
	scale := newScaler(samples)
	n, k := len(samples), len(samples[0])+1
	x := mat.NewDense(n, k, nil)
	for i, s := range samples {
		x.SetRow(i, append([]float64{1}, scale.apply(s)...))
	}
	w := mat.NewVecDense(k, nil)
	for range newtonSteps {
		step := newtonStep(x, w, member)
		w.AddVec(w, step)
		if mat.Norm(step, 2) < newtonTolerance {
			break
		}
	}
	return func(s []float64) float64 {
		z := w.AtVec(0)
		for i, v := range scale.apply(s) {
			z += float64(w.AtVec(i+1) * v)
		}
		return sigmoid(z)
	}, nil
}

// newtonStep returns -H⁻¹g of the penalised loss at w.
func newtonStep(x *mat.Dense, w *mat.VecDense, member []bool) *mat.VecDense {
	n, k := x.Dims()
	gradient, hessian := mat.NewVecDense(k, nil), mat.NewSymDense(k, nil)
	for j := range k {
		gradient.SetVec(j, -float64(n)*ridge*w.AtVec(j))
		hessian.SetSym(j, j, float64(n)*ridge)
	}
	for i := range n {
		row := mat.NewVecDense(k, x.RawRowView(i))
		p, y := sigmoid(mat.Dot(row, w)), 0.0
		if member[i] {
			y = 1
		}
		gradient.AddScaledVec(gradient, y-p, row)
		hessian.SymRankOne(hessian, p*(1-p), row)
	}
	var cholesky mat.Cholesky
	step := mat.NewVecDense(k, nil)
	// The ridge makes the matrix positive definite; were it not so numerically,
	// w would stay as it is.
	if cholesky.Factorize(hessian) {
		_ = cholesky.SolveVecTo(step, gradient)
	}
	return step
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// scaler standardises every entry by the samples it was made from.
type scaler struct{ mean, deviation []float64 }

func newScaler(samples [][]float64) scaler {
	var s scaler
	column := make([]float64, len(samples))
	for j := range samples[0] {
		for i := range samples {
			column[i] = samples[i][j]
		}
		mean, deviation := stat.PopMeanStdDev(column, nil)
		if deviation == 0 {
			deviation = 1
		}
		s.mean, s.deviation = append(s.mean, mean), append(s.deviation, deviation)
	}
	return s
}

func (s scaler) apply(sample []float64) []float64 {
	out := make([]float64, len(sample))
	for j, v := range sample {
		out[j] = (v - s.mean[j]) / s.deviation[j]
	}
	return out
}
