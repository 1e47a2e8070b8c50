package lethe

import "lethe/internal/portable"

// OneHopFeatures returns the number of features of a row that OneHop joins to f
// features.
func OneHopFeatures(f int) int { return 2*f + 1 }

// OneHop returns the snapshot with what surrounds a node joined to its own
// features x: the mean of its neighbours' features over the whole snapshot,
// zeros if it has none, and ln(1 + degree), in this order. Neighbours count
// once whichever way and however often money flowed; they are added in
// ascending order of their pseudonyms, in double precision. Everything but the
// features is shared with s.
//
// A row so joined depends on the node's neighbours and on nothing else, so
// taking a node out changes the rows of its neighbours only.
func OneHop(s *Snapshot) *Snapshot {
	out := *s
	f := s.FeatureCount
	out.FeatureCount = OneHopFeatures(f)
	out.Features = make([]float32, len(s.Nodes)*out.FeatureCount)
	sums := make([]float64, len(s.Nodes)*f)
	degrees := make([]int, len(s.Nodes))
	// Edges ascend by both ends, so each node meets its neighbours in order:
	// first the lower ones, as the end of their edges, then the higher ones.
	for _, e := range s.Undirected() {
		for _, ends := range [][2]uint32{{e.A, e.B}, {e.B, e.A}} {
			degrees[ends[0]]++
			sum := sums[int(ends[0])*f : (int(ends[0])+1)*f]
			for j, v := range s.Row(int(ends[1])) {
				sum[j] += float64(v)
			}
		}
	}
	for i := range s.Nodes {
		row := out.Row(i)
		copy(row, s.Row(i))
		for j, v := range sums[i*f : (i+1)*f] {
			row[f+j] = float32(v / float64(max(1, degrees[i])))
		}
		row[2*f] = float32(portable.Log(1 + float64(degrees[i])))
	}
	return &out
}
