package loops

import "lethe/trainer/kernels"

// Matrix is a dense row-major matrix.
type Matrix = kernels.Matrix

// Set is a set of float32 loops, by purpose. Every set computes the same bits.
type Set struct {
	Heads       Heads
	Draws       Draws
	Activations Activations
}

// plain returns the set in plain Go.
func plain() Set {
	return Set{Heads: plainHeads{}, Draws: plainDraws{}, Activations: plainActivations{}}
}
