//go:build !amd64

package kernels

// fused returns the set of fused multiply-adds with the fastest loops of this
// processor, and whether any of them are in assembly.
func fused() (Set, bool) { return fusedPlain(), false }
