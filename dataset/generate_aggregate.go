package dataset

import "math"

// aggregations is the number of summaries of neighbours: mean, maximum, minimum and standard
// deviation. Elliptic has the last three and correlations.
const aggregations = 4

// aggregated returns the raw neighbour features: for every node a summary of its neighbours' local
// values, in both directions. A node without neighbours has zeros.
func (m *featureModel) aggregated(g *generatedStep, local matrix) matrix {
	x := newMatrix(local.rows, len(m.aggregates))
	around := g.neighbours()
	var seen []float64
	for i := range x.rows {
		if len(around[i]) == 0 {
			continue
		}
		for a, spec := range m.aggregates {
			seen = seen[:0]
			for _, k := range around[i] {
				seen = append(seen, local.at(k, spec.source))
			}
			x.set(i, a, summarise(spec.op, seen))
		}
	}
	return x
}

// neighbours lists the other ends of every node's payments.
func (g *generatedStep) neighbours() [][]int {
	around := make([][]int, len(g.classes))
	for _, p := range g.payments {
		around[p.Source] = append(around[p.Source], int(p.Target))
		around[p.Target] = append(around[p.Target], int(p.Source))
	}
	return around
}

// summarise reduces values, of which there must be at least one.
func summarise(op int, values []float64) float64 {
	sum, largest, smallest := 0.0, values[0], values[0]
	for _, v := range values {
		sum += v
		largest, smallest = max(largest, v), min(smallest, v)
	}
	mean := sum / float64(len(values))
	switch op {
	case 0:
		return mean
	case 1:
		return largest
	case 2:
		return smallest
	}
	square := 0.0
	for _, v := range values {
		square += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(square / float64(len(values)))
}
