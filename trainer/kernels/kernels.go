package kernels

// Set is a set of float32 loops, by purpose. They run only on the calling goroutine, and their
// order of summation depends only on the shapes. Two sets may differ in the last bits of Products
// and Rows; each is deterministic. Named and Default return sets.
type Set struct {
	// Name identifies the arithmetic, for checkpoints and receipts.
	Name string
	// Detail is the instruction set in use here, or empty. It does not affect any result.
	Detail string

	Products    Products
	Rows        Rows
	Elements    Elements
	Activations Activations
	Columns     Columns
	Optimiser   Optimiser
}

// Portable returns the set in plain Go in which no product is fused with a sum. It gives the same
// bits on every processor.
func Portable() Set {
	return Set{
		Name: PortableName, Products: portableProducts{}, Rows: portableRows{},
		Elements: plainElements{}, Activations: plainActivations{},
		Columns: plainColumns{}, Optimiser: plainOptimiser{},
	}
}

// fusedPlain returns the set of fused multiply-adds in plain Go. The chain of operations
// determines every bit, so the loops for AVX-512 and AVX2 compute the same bytes, and a
// checkpoint can be verified on another kind of processor.
func fusedPlain() Set {
	s := Portable()
	s.Name, s.Detail, s.Products, s.Rows = FMAName, "plain Go", fusedProducts{plainTiles{}}, fusedRows{}
	return s
}
