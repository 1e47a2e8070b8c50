package regression

import "math"

const (
	// maxIterations bounds the steps of Newton's method, including changes of the active set. A
	// fit takes about ten.
	maxIterations = 200
	// smallDecrement is the squared Newton decrement, in nats, below which a full step is taken
	// without a line search: rounding of the objective would hide its gain.
	smallDecrement = 1e-9
	// endDecrement ends the fit: another step would gain half of it.
	endDecrement = 1e-16
	// wants is the gradient, in nats, below which a coefficient leaves its bound.
	wants = -1e-7
	// maxHalvings bounds the search along a step.
	maxHalvings = 50
	// sufficient is the share of the predicted decrease that a step must achieve (Armijo).
	sufficient = 1e-4
)

// Minimise returns the coefficients and the intercept that minimise the problem. Newton steps move
// the coefficients that are above their bounds; a coefficient that reaches its bound stays there
// until, at the minimum of the others, its gradient shows that raising it helps (Nocedal and
// Wright, "Numerical Optimization", 2006, algorithm 16.3). Every decision follows fixed rules, so
// equal problems give equal bits. It panics if the lengths do not match.
func Minimise(p Problem) (coefficients []float64, intercept float64) {
	columns := len(p.Centre)
	if len(p.Lowest) != columns || len(p.Inputs) != columns*len(p.Targets) {
		panic("regression: lengths of inputs, targets, centre and bounds do not fit")
	}
	s := newSolver(&p)
	for range maxIterations {
		if s.step() {
			break
		}
	}
	return s.at[:columns], s.at[columns]
}

// solver is the state of a fit. Every slice has an entry per coefficient and one for the intercept.
type solver struct {
	problem *Problem
	// at is the current point, value the objective there.
	at    []float64
	value float64
	// free marks the entries that a step may change; the others are at their bounds.
	free                         []bool
	gradient, direction, trial   []float64
	hessian, triangle, rightHand []float64
}

func newSolver(p *Problem) *solver {
	columns := len(p.Centre)
	n := columns + 1
	s := &solver{
		problem: p, at: make([]float64, n), free: make([]bool, n),
		gradient: make([]float64, n), direction: make([]float64, n), trial: make([]float64, n),
		hessian: make([]float64, n*n), triangle: make([]float64, n*n), rightHand: make([]float64, n),
	}
	for k, c := range p.Centre {
		s.at[k] = max(c, p.Lowest[k])
		s.free[k] = s.at[k] > p.Lowest[k]
	}
	s.free[columns] = true
	s.value = p.objective(s.at)
	return s
}

// step moves the point or changes the free set; it returns true at the minimum.
func (s *solver) step() (done bool) {
	s.problem.derivatives(s.at, s.gradient, s.hessian)
	s.newton()
	decrement := 0.0
	for k, g := range s.gradient {
		decrement -= float64(g * s.direction[k])
	}
	if decrement <= endDecrement {
		return !s.release()
	}
	longest, blocking := s.reach()
	length := longest
	for halving := 0; ; halving++ {
		for k, d := range s.direction {
			s.trial[k] = s.at[k] + float64(length*d)
			// Rounding may move one slightly past its bound.
			if k < len(s.problem.Lowest) {
				s.trial[k] = max(s.trial[k], s.problem.Lowest[k])
			}
		}
		if blocking >= 0 && halving == 0 {
			s.trial[blocking] = s.problem.Lowest[blocking]
		}
		value := s.problem.objective(s.trial)
		if decrement <= smallDecrement || value <= s.value-float64(sufficient*float64(length*decrement)) {
			s.value = value
			break
		}
		if halving == maxHalvings {
			// Further progress is within rounding.
			return !s.release()
		}
		length /= 2
	}
	s.at, s.trial = s.trial, s.at
	if blocking >= 0 && length == longest {
		s.free[blocking] = false
	}
	return false
}

// reach returns the longest step along the direction within all bounds, at most 1, and the
// coefficient whose bound limits it, or -1.
func (s *solver) reach() (longest float64, blocking int) {
	longest, blocking = 1, -1
	for k, lowest := range s.problem.Lowest {
		if d := s.direction[k]; s.free[k] && s.at[k]+d < lowest {
			if length := min(1, (lowest-s.at[k])/d); blocking < 0 || length < longest {
				longest, blocking = length, k
			}
		}
	}
	return longest, blocking
}

// release frees the bound coefficient that would lower the objective fastest, and
// returns whether there is one.
func (s *solver) release() bool {
	best, steepest := -1, wants
	for k := range s.problem.Lowest {
		if !s.free[k] && s.gradient[k] < steepest {
			best, steepest = k, s.gradient[k]
		}
	}
	if best >= 0 {
		s.free[best] = true
	}
	return best >= 0
}

// newton solves H d = -g over the free entries by Cholesky decomposition; the direction of the
// others is 0.
func (s *solver) newton() {
	n := len(s.at)
	for i := range n {
		s.direction[i] = 0
		if !s.free[i] {
			continue
		}
		sum := -s.gradient[i]
		for j := range i {
			if !s.free[j] {
				continue
			}
			entry := s.hessian[i*n+j]
			for k := range j {
				if s.free[k] {
					entry -= float64(s.triangle[i*n+k] * s.triangle[j*n+k])
				}
			}
			entry /= s.triangle[j*n+j]
			s.triangle[i*n+j] = entry
			sum -= float64(entry * s.rightHand[j])
		}
		pivot := s.hessian[i*n+i]
		for k := range i {
			if s.free[k] {
				pivot -= float64(s.triangle[i*n+k] * s.triangle[i*n+k])
			}
		}
		s.triangle[i*n+i] = math.Sqrt(max(pivot, flattest))
		s.rightHand[i] = sum / s.triangle[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		if !s.free[i] {
			continue
		}
		sum := s.rightHand[i]
		for j := i + 1; j < n; j++ {
			if s.free[j] {
				sum -= float64(s.triangle[j*n+i] * s.direction[j])
			}
		}
		s.direction[i] = sum / s.triangle[i*n+i]
	}
}
