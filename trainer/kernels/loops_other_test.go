//go:build !amd64

package kernels

// allLoops returns the loops in assembly that this processor can run.
func allLoops() []loops { return nil }
