//go:build !amd64

package kernels

// bestLoops returns the fastest loops of this processor.
func bestLoops() loops { return plainLoops{} }
