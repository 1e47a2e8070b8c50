package lethe

import (
	"slices"

	"lethe/internal/portable"
)

// OneHopFeatures returns how many features a row has once OneHop has joined a
// node's surroundings to its own f.
func OneHopFeatures(f int) int { return 2*f + 1 }

// OneHop returns the snapshot with what surrounds a node joined to its own
// features: the mean of its neighbours' features over the whole snapshot, zeros
// if it has none, and ln(1 + degree), in this order. Neighbours count once
// whichever way and however often money flowed. Everything but the features is
// shared with s.
//
// A joined row depends on the node and its neighbours alone, so taking a node
// out changes the rows of its neighbours and no others.
func OneHop(s *Snapshot) *Snapshot {
	neighbours := make([][]uint32, len(s.Nodes))
	// Edges ascend, so each node meets its neighbours in order: first the lower
	// ones, as the far end of their edges, then the higher ones.
	for _, e := range s.Undirected() {
		neighbours[e.A] = append(neighbours[e.A], e.B)
		neighbours[e.B] = append(neighbours[e.B], e.A)
	}
	out := *s
	out.FeatureCount = OneHopFeatures(s.FeatureCount)
	out.Features = make([]float32, 0, len(s.Nodes)*out.FeatureCount)
	for i := range s.Nodes {
		out.Features = s.AppendOneHop(out.Features, i, neighbours[i])
	}
	return &out
}

// AppendOneHop appends the row that OneHop gives node i. Neighbours are its
// positions in the undirected graph, ascending and each once; their features
// are added in this order, in double precision, so that the bits of the mean
// depend on nothing else.
func (s *Snapshot) AppendOneHop(dst []float32, i int, neighbours []uint32) []float32 {
	dst = append(dst, s.Row(i)...)
	from := len(dst)
	dst = slices.Grow(dst, s.FeatureCount+1)[:from+s.FeatureCount]
	for f := range s.FeatureCount {
		sum := 0.0
		for _, j := range neighbours {
			sum += float64(s.Features[int(j)*s.FeatureCount+f])
		}
		dst[from+f] = float32(sum / float64(max(1, len(neighbours))))
	}
	return append(dst, float32(portable.Log(1+float64(len(neighbours)))))
}
