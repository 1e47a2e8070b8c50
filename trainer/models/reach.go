package models

import "lethe/trainer/layers"

// Reach is how many payments away a transaction may be and still have a part in what a
// network says of another. A graph without the transactions beyond gives the same logits.
func (a Architecture) Reach() int {
	f, _ := familyOf(a.Model)
	switch {
	case a.Model == MLP:
		return 0
	case a.Hops > 0:
		// Weights hold the degrees of both ends, of those at the border too.
		return a.Hops + 1
	case f.aggregation == layers.Propagation:
		return convolutions + 1
	case f.takesSkip:
		return ellipticConvolutions
	default:
		return convolutions
	}
}

// convolutions is the number of convolutions of the models of the citation graphs.
const convolutions = 2
