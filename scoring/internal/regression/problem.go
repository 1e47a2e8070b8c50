package regression

import (
	"math"

	"lethe/internal/portable"
)

// Problem is the convex function
//
//	Σ_i loss(z_i, t_i) + L2/2 Σ_k (w_k - c_k)² + InterceptL2/2 b²,
//	z_i = Σ_k w_k x_ik + b,  loss(z, t) = ln(1 + e^z) - t z,
//
// of the coefficients w and the intercept b, under w_k ≥ l_k.
type Problem struct {
	// Inputs are x, rows × columns, row-major and finite.
	Inputs []float64
	// Targets are t, one per row, in [0, 1].
	Targets []float64
	// Centre is c, one per column; the fit starts there.
	Centre []float64
	// Lowest is l, one per column, -Inf for a column without a bound.
	Lowest []float64
	// L2 and InterceptL2 are not negative. If both are 0, the minimum exists only if the targets
	// are not linearly separable; otherwise the fit ends at the iteration limit.
	L2, InterceptL2 float64
}

// objective returns the function at the point x: the coefficients, followed by the intercept.
func (p *Problem) objective(x []float64) float64 {
	columns := len(p.Centre)
	sum := float64(p.InterceptL2 / 2 * float64(x[columns]*x[columns]))
	for k, c := range p.Centre {
		d := x[k] - c
		sum += float64(p.L2 / 2 * float64(d*d))
	}
	for i, target := range p.Targets {
		loss, _, _ := lossOf(affine(x, p.Inputs[i*columns:(i+1)*columns]), target)
		sum += loss
	}
	return sum
}

// derivatives stores the gradient and the Hessian, row-major, at the point x.
func (p *Problem) derivatives(x, gradient, hessian []float64) {
	columns := len(p.Centre)
	n := columns + 1
	clear(gradient)
	clear(hessian)
	for i, target := range p.Targets {
		row := p.Inputs[i*columns : (i+1)*columns]
		_, slope, curvature := lossOf(affine(x, row), target)
		for k, v := range row {
			gradient[k] += float64(slope * v)
			bent := float64(curvature * v)
			for j := range k + 1 {
				hessian[k*n+j] += float64(bent * row[j])
			}
			hessian[columns*n+k] += bent
		}
		gradient[columns] += slope
		hessian[columns*n+columns] += curvature
	}
	for k, c := range p.Centre {
		gradient[k] += float64(p.L2 * (x[k] - c))
		hessian[k*n+k] += p.L2
	}
	gradient[columns] += float64(p.InterceptL2 * x[columns])
	hessian[columns*n+columns] += p.InterceptL2
	for k := range n {
		// Rows with extreme probabilities have almost no curvature. The floor keeps the step
		// finite and does not move the minimum.
		hessian[k*n+k] += flattest
		for j := range k {
			hessian[j*n+k] = hessian[k*n+j]
		}
	}
}

// flattest is added to every curvature.
const flattest = 1e-9

// lossOf returns a row's loss with its first and second derivative in z.
func lossOf(z, target float64) (loss, slope, curvature float64) {
	e := portable.Exp(-math.Abs(z))
	probability := 1 / (1 + e)
	if z < 0 {
		probability = e / (1 + e)
	}
	loss = max(z, 0) + portable.Log(1+e) - float64(target*z)
	return loss, probability - target, e / float64((1+e)*(1+e))
}

// affine is w·row plus the intercept that follows w.
func affine(x, row []float64) float64 {
	sum := x[len(row)]
	for k, v := range row {
		sum += float64(x[k] * v)
	}
	return sum
}
