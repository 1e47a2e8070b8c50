//go:build !amd64

package kernels

// allFused returns the sets of fused multiply-adds in assembly that this processor
// can run.
func allFused() []Set { return nil }
