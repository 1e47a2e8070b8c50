package partition

import (
	"context"

	"lethe"
)

// lloydSweeps bounds the rounds of assigning nodes and moving centres. The
// assignment settles after about ten; later rounds move a handful of nodes.
const lloydSweeps = 12

// discretise rounds an n × v embedding to shards: k-means with v centres in
// which the assignment fills the quotas. It costs O(n v² + n log n) a round.
func discretise(ctx context.Context, g *Graph, h []float64, q *quotas, seed uint64) (Assignment, error) {
	v := q.shards
	centres := startCentres(h, g.N(), v, seed)
	distance := make([]float64, g.N()*v)
	var a Assignment
	for range lloydSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		distances(distance, h, centres, v)
		next := assignByRegret(g, distance, q)
		if same(a, next) {
			break
		}
		a = next
		moveCentres(centres, h, a, v)
	}
	return a, nil
}

// startCentres picks v rows of h as centres (v × v): the first by a keyed draw,
// each next one with a probability proportional to its squared distance from the
// centres before it (k-means++, Arthur and Vassilvitskii 2007). Once every row
// is a centre the last one repeats.
func startCentres(h []float64, n, v int, seed uint64) []float64 {
	draw := lethe.NewDraw(seed, "gpfb-centres")
	centres := make([]float64, 0, v*v)
	nearest := make([]float64, n)
	pick := draw.IntN(n)
	for k := range v {
		centres = append(centres, h[pick*v:(pick+1)*v]...)
		total := 0.0
		for i := range n {
			if d := squaredDistance(h[i*v:(i+1)*v], centres[k*v:]); k == 0 || d < nearest[i] {
				nearest[i] = d
			}
			total += nearest[i]
		}
		pick = 0
		for left := draw.Float64() * total; pick < n-1 && left >= nearest[pick]; pick++ {
			left -= nearest[pick]
		}
	}
	return centres
}

// distances fills dst (n × v) with squared distances from rows to centres.
func distances(dst, h, centres []float64, v int) {
	for i := range len(dst) / v {
		row := h[i*v : (i+1)*v]
		for s := range v {
			dst[i*v+s] = squaredDistance(row, centres[s*v:(s+1)*v])
		}
	}
}

// moveCentres puts every centre at the mean of its nodes. A centre without
// nodes stays.
func moveCentres(centres, h []float64, a Assignment, v int) {
	sums := make([]float64, v*v)
	sizes := make([]int, v)
	for i, s := range a {
		sizes[s]++
		addScaled(sums[int(s)*v:int(s+1)*v], 1, h[i*v:(i+1)*v])
	}
	for s, size := range sizes {
		if size == 0 {
			continue
		}
		for j := range v {
			centres[s*v+j] = sums[s*v+j] / float64(size)
		}
	}
}

func squaredDistance(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for j, value := range x {
		d := value - y[j]
		sum += d * d
	}
	return sum
}

func same(a, b Assignment) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
