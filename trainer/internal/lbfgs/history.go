package lbfgs

// pairs is the number of stored steps.
const pairs = 15

// history approximates the inverse of the Hessian from the last steps.
type history struct {
	// list is from the oldest to the newest.
	list []pair
}

// pair is a step and the change of the gradient, with the inverse of their product.
type pair struct {
	step, change []float64
	inverse      float64
}

func (h *history) empty() bool { return len(h.list) == 0 }

// add stores the step from one point to another.
func (h *history) add(from, to point) {
	var p pair
	if len(h.list) == pairs {
		p = h.list[0]
		copy(h.list, h.list[1:])
		h.list = h.list[:pairs-1]
	} else {
		p.step, p.change = make([]float64, len(to.x)), make([]float64, len(to.x))
	}
	for i := range p.step {
		p.step[i] = to.x[i] - from.x[i]
		p.change[i] = to.gradient[i] - from.gradient[i]
	}
	p.inverse = 1 / dot(p.step, p.change)
	h.list = append(h.list, p)
}

// multiply replaces v by the inverse times v. Without a step v stays unchanged.
func (h *history) multiply(v []float64) {
	if h.empty() {
		return
	}
	var factors [pairs]float64
	for i := len(h.list) - 1; i >= 0; i-- {
		p := h.list[i]
		factors[i] = p.inverse * dot(p.step, v)
		addScaledTo(v, v, -factors[i], p.change)
	}
	newest := h.list[len(h.list)-1]
	scale(v, dot(newest.step, newest.change)/dot(newest.change, newest.change))
	for i, p := range h.list {
		addScaledTo(v, v, factors[i]-float64(p.inverse*dot(p.change, v)), p.step)
	}
}
