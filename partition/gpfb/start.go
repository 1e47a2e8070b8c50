package gpfb

import (
	"lethe"
	"lethe/partition/kmeans"
)

// smoothSteps is how often the start of GPFB is smoothed under quotas. A step
// costs a small part of a sweep and goes further than one, which α's share of the
// shift holds back. 5, 20 and 40 steps cut more edges on one of Cora, CiteSeer and
// Bitcoin-OTC each.
const smoothSteps = 10

// startEmbedding returns an n × v matrix of keyed normal draws, one key per node
// position, made orthonormal. It needs n >= v. Under quotas the draws are first
// smoothed over the graph; a plain method starts from the bare draws as the paper
// does.
func startEmbedding(op *operator, seed uint64, plain bool) (*kmeans.Points, error) {
	n, v := op.g.N(), op.columns
	raw := make([]float64, n*v)
	for i := range n {
		draw := lethe.NewDraw(seed, "gpfb-h0", uint64(i))
		for j := range v {
			raw[i*v+j] = draw.Normal()
		}
	}
	h := &kmeans.Points{Columns: v, Values: make([]float64, n*v)}
	if !plain {
		for range smoothSteps {
			op.smooth(h.Values, raw)
			raw, h.Values = h.Values, raw
		}
	}
	return h, newPolar(n, v).of(h.Values, raw)
}
