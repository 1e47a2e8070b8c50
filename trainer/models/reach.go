package models

import "lethe/trainer/layers"

// Reach is the maximum distance, in payments, at which one transaction can influence a network's
// logits for another. Removing transactions beyond it does not change the logits.
func (a Architecture) Reach() int {
	f, _ := familyOf(a.Model)
	switch {
	case a.Model == MLP:
		return 0
	case a.Hops > 0:
		// Weights depend on the degrees of both ends, also at the border.
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
