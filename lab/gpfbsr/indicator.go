package gpfbsr

import (
	"math"

	"lethe/partition/graph"

	"lethe"
)

// indicator is the assignment Y of GPFB-SR with what its coordinate ascent needs
// about it, kept current node by node. With g = D^-1/2 H R it maximises
//
//	Tr((HR)ᵀ D^-1/2 Y (Yᵀ D Y)^-1/2) = Σ_j a_j / sqrt(b_j),
//	a_j = Σ_{i in j} g_ij,  b_j = Σ_{i in j} d_i.
type indicator struct {
	y      graph.Assignment
	degree []float64
	// g is nodes × shards; a, b and rootB = sqrt(b) have one entry per shard.
	g, a, b, rootB []float64
}

func newIndicator(g *graph.Graph, y graph.Assignment, shards int) *indicator {
	d := &indicator{
		y: y, degree: make([]float64, g.N()), g: make([]float64, g.N()*shards),
		a: make([]float64, shards), b: make([]float64, shards), rootB: make([]float64, shards),
	}
	for i := range d.degree {
		d.degree[i] = float64(len(g.Neighbors(i)))
	}
	return d
}

// set replaces the embedding HR (nodes × shards) and keeps the assignment.
func (d *indicator) set(hr []float64) {
	v := len(d.a)
	clear(d.a)
	clear(d.b)
	for i, s := range d.y {
		factor := 1 / math.Sqrt(d.degree[i])
		for j := range v {
			d.g[i*v+j] = hr[i*v+j] * factor
		}
		d.a[s] += d.g[i*v+int(s)]
		d.b[s] += d.degree[i]
	}
	for j, b := range d.b {
		d.rootB[j] = math.Sqrt(b)
	}
}

// pass visits every node once and gives it the shard that raises the objective most with the
// current a and b, the lowest in a tie. It returns the number of nodes that moved. gains, if not
// nil, receives the gains of every visited node (scratch space).
func (d *indicator) pass(gains func(i int, c []float64)) int {
	c := make([]float64, len(d.a))
	changed := 0
	for i := range d.y {
		d.gains(c, i)
		if gains != nil {
			gains(i, c)
		}
		best := 0
		for j := range c {
			if c[j] > c[best] {
				best = j
			}
		}
		if lethe.ShardID(best) != d.y[i] {
			d.move(i, lethe.ShardID(best))
			changed++
		}
	}
	return changed
}

// gains fills c with each shard's gain: its quotient with node i minus its quotient without. A
// quotient with denominator 0 counts as 0.
func (d *indicator) gains(c []float64, i int) {
	own := int(d.y[i])
	row := d.g[i*len(c) : (i+1)*len(c)]
	for j := range c {
		if j == own {
			c[j] = quotient(d.a[j], d.rootB[j]) - quotient(d.a[j]-row[j], math.Sqrt(d.b[j]-d.degree[i]))
		} else {
			c[j] = quotient(d.a[j]+row[j], math.Sqrt(d.b[j]+d.degree[i])) - quotient(d.a[j], d.rootB[j])
		}
	}
}

func (d *indicator) move(i int, to lethe.ShardID) {
	from := d.y[i]
	row := d.g[i*len(d.a) : (i+1)*len(d.a)]
	d.a[from] -= row[from]
	d.b[from] -= d.degree[i]
	d.a[to] += row[to]
	d.b[to] += d.degree[i]
	if d.b[from] == 0 {
		d.a[from] = 0 // remove the rounding error of an empty shard
	}
	d.rootB[from], d.rootB[to] = math.Sqrt(d.b[from]), math.Sqrt(d.b[to])
	d.y[i] = to
}

func quotient(a, root float64) float64 {
	if root == 0 {
		return 0
	}
	return a / root
}
