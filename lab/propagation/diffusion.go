package propagation

import (
	"math"

	"lethe"
	"lethe/lab/undirected"
)

// diffusion is a graph along whose edges rows of numbers spread: an adjacency
// matrix in compressed rows, scaled from both sides.
type diffusion struct {
	// neighbours of node i are targets[offsets[i]:offsets[i+1]], ascending.
	offsets, targets []int
	// symmetric and walk are d^-1/2 and d^-1 for degree d, 0 for isolated nodes.
	symmetric, walk []float64
}

// newDiffusion takes undirected edges; a pair listed twice counts once.
func newDiffusion(numNodes int, edges []lethe.Edge) (*diffusion, error) {
	simple, err := undirected.Simple(numNodes, edges)
	if err != nil {
		return nil, err
	}
	d := &diffusion{
		offsets: make([]int, numNodes+1), targets: make([]int, 2*len(simple)),
		symmetric: make([]float64, numNodes), walk: make([]float64, numNodes),
	}
	for _, e := range simple {
		d.offsets[e.A+1]++
		d.offsets[e.B+1]++
	}
	for i := range numNodes {
		if degree := float64(d.offsets[i+1]); degree > 0 {
			d.symmetric[i], d.walk[i] = 1/math.Sqrt(degree), 1/degree
		}
		d.offsets[i+1] += d.offsets[i]
	}
	next := append([]int(nil), d.offsets[:numNodes]...)
	put := func(from, to uint32) {
		d.targets[next[from]] = int(to)
		next[from]++
	}
	// Edges ascend: first every node's neighbours below it, then those above.
	for _, e := range simple {
		put(e.B, e.A)
	}
	for _, e := range simple {
		put(e.A, e.B)
	}
	return d, nil
}

// spread returns steps rounds of x <- (1-alpha) start + alpha S x from x =
// start, S = D^-1/2 A D^-1/2, for rows of the given width. An isolated node
// keeps 1-alpha of its row, which is all of it up to a factor.
func (d *diffusion) spread(start []float64, width int, alpha float64, steps int) []float64 {
	x, next := append([]float64(nil), start...), make([]float64, len(start))
	for range steps {
		for j, scale := range d.symmetric {
			row := x[j*width:][:width]
			for c, v := range row {
				row[c] = float64(scale * v)
			}
		}
		for i := range d.symmetric {
			row := next[i*width:][:width]
			d.gather(row, x, i)
			for c := range row {
				row[c] = float64((1-alpha)*start[i*width+c]) + float64(alpha*float64(d.symmetric[i]*row[c]))
			}
		}
		x, next = next, x
	}
	return x
}

// average returns steps rounds in which every row that is not held becomes the
// mean of its neighbours' rows; held rows stay as they start.
func (d *diffusion) average(start []float64, width, steps int, held func(node int) bool) []float64 {
	x, next := append([]float64(nil), start...), append([]float64(nil), start...)
	for range steps {
		for i, share := range d.walk {
			if held(i) {
				continue
			}
			row := next[i*width:][:width]
			d.gather(row, x, i)
			for c := range row {
				row[c] *= share
			}
		}
		x, next = next, x
	}
	return x
}

// gather stores the sum of the rows of node i's neighbours in row. It takes four
// columns at a time, so that their sums stay in registers.
func (d *diffusion) gather(row, x []float64, i int) {
	width, neighbours := len(row), d.targets[d.offsets[i]:d.offsets[i+1]]
	c := 0
	for ; c+4 <= width; c += 4 {
		var first, second, third, fourth float64
		for _, j := range neighbours {
			from := x[j*width+c:][:4]
			first += from[0]
			second += from[1]
			third += from[2]
			fourth += from[3]
		}
		row[c], row[c+1], row[c+2], row[c+3] = first, second, third, fourth
	}
	for ; c < width; c++ {
		sum := 0.0
		for _, j := range neighbours {
			sum += x[j*width+c]
		}
		row[c] = sum
	}
}
