package gpfb

import (
	"lethe"
	"lethe/partition/kmeans"
)

// smoothSteps is how often the start of GPFB is smoothed. A step costs a small part
// of a sweep and has more effect, because α's share of the shift slows a sweep down. 5, 20 and 40
// steps each cut more edges on one of Cora, CiteSeer and Bitcoin-OTC.
const smoothSteps = 10

// startEmbedding returns an n × v matrix of normal draws, keyed by row and made orthonormal. It
// needs n >= v. The draws are first smoothed over the graph.
func startEmbedding(m Matrix, seed uint64) (*kmeans.Points, error) {
	n, v := m.Shape()
	raw, h := make([]float64, n*v), make([]float64, n*v)
	for i := range n {
		draw := lethe.NewDraw(seed, m.Purpose(), uint64(i))
		for j := range v {
			raw[i*v+j] = draw.Normal()
		}
	}
	for range smoothSteps {
		m.Smooth(h, raw)
		raw, h = h, raw
	}
	return &kmeans.Points{Columns: v, Values: h}, NewPolar(n, v).Of(h, raw)
}
