package gpfb

import (
	"lethe"
	"lethe/partition/kmeans"
)

// smoothSteps is how often the start of GPFB is smoothed under quotas. A step costs a small part
// of a sweep and has more effect, because α's share of the shift slows a sweep down. 5, 20 and 40
// steps each cut more edges on one of Cora, CiteSeer and Bitcoin-OTC.
const smoothSteps = 10

// startEmbedding returns an n × v matrix of normal draws, keyed by row and made orthonormal. It
// needs n >= v. Under quotas the draws are first smoothed over the graph; a plain method starts
// from the raw draws as in the paper.
func startEmbedding(m matrix, seed uint64, plain bool) (*kmeans.Points, error) {
	n, v := m.shape()
	raw, h := make([]float64, n*v), make([]float64, n*v)
	for i := range n {
		draw := lethe.NewDraw(seed, m.purpose(), uint64(i))
		for j := range v {
			raw[i*v+j] = draw.Normal()
		}
	}
	if !plain {
		for range smoothSteps {
			m.smooth(h, raw)
			raw, h = h, raw
		}
	}
	return &kmeans.Points{Columns: v, Values: h}, newPolar(n, v).of(h, raw)
}
