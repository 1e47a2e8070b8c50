package lethe

import (
	"slices"

	"lethe/internal/portable"
)

// OneHopFeatures returns how many features a row has once OneHop has joined a
// node's surroundings to its own f.
func OneHopFeatures(f int) int { return 2*f + 1 }

// DirectedOneHopFeatures returns the same for DirectedOneHop.
func DirectedOneHopFeatures(f int) int { return 3*f + 2 }

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
	return s.join(OneHopFeatures(s.FeatureCount), neighbours)
}

// DirectedOneHop is OneHop with those who pay a node and those whom it pays
// apart: own features, the payers' mean, the payees' mean, ln(1 + payers),
// ln(1 + payees). Who is both counts in both.
func DirectedOneHop(s *Snapshot) *Snapshot {
	payers, payees := s.Counterparties()
	return s.join(DirectedOneHopFeatures(s.FeatureCount), payers, payees)
}

// WithOneHop returns the snapshot as models see it: with one-hop features, directed
// ones or none.
func (s *Snapshot) WithOneHop(oneHop, directed bool) *Snapshot {
	switch {
	case directed:
		return DirectedOneHop(s)
	case oneHop:
		return OneHop(s)
	default:
		return s
	}
}

// Counterparties returns, per node, the positions of the nodes that pay it and of
// those that it pays, ascending.
func (s *Snapshot) Counterparties() (payers, payees [][]uint32) {
	payers, payees = make([][]uint32, len(s.Nodes)), make([][]uint32, len(s.Nodes))
	for _, e := range s.Payments {
		payers[e.B] = append(payers[e.B], e.A)
		payees[e.A] = append(payees[e.A], e.B)
	}
	return payers, payees
}

// join returns the snapshot with AppendOneHop's rows.
func (s *Snapshot) join(features int, groups ...[][]uint32) *Snapshot {
	out := *s
	out.FeatureCount = features
	out.Features = make([]float32, 0, len(s.Nodes)*features)
	own := make([][]uint32, len(groups))
	for i := range s.Nodes {
		for k, g := range groups {
			own[k] = g[i]
		}
		out.Features = s.AppendOneHop(out.Features, i, own...)
	}
	return &out
}

// AppendOneHop appends the row of node i: its features, the mean of each group's
// features, and ln(1 + size) of each group. OneHop has one group, the neighbours
// in the undirected graph; DirectedOneHop has the payers and the payees. Groups
// list positions, ascending and each once; features are added in this order, in
// double precision, so that the bits of a mean depend on nothing else.
func (s *Snapshot) AppendOneHop(dst []float32, i int, groups ...[]uint32) []float32 {
	dst = append(dst, s.Row(i)...)
	for _, group := range groups {
		from := len(dst)
		dst = slices.Grow(dst, s.FeatureCount)[:from+s.FeatureCount]
		for f := range s.FeatureCount {
			sum := 0.0
			for _, j := range group {
				sum += float64(s.Features[int(j)*s.FeatureCount+f])
			}
			dst[from+f] = float32(sum / float64(max(1, len(group))))
		}
	}
	for _, group := range groups {
		dst = append(dst, float32(portable.Log(1+float64(len(group)))))
	}
	return dst
}
