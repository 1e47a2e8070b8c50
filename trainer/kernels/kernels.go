package kernels

// Set is a set of float32 loops. Implementations run on the calling
// goroutine only and sum in an order that depends on nothing but the shapes.
// Two sets may differ in the last bits of Products; each is deterministic.
type Set interface {
	// Name identifies the arithmetic, for checkpoints and receipts.
	Name() string
	Products
	Rows
	Elements
	Activations
	Heads
	Columns
	Draws
}

// Products are what the sets differ in. The destination of a matrix product must
// not overlap its operands.
type Products interface {
	// MulNN stores a·b: a is m×k, b is k×n, dst is m×n.
	MulNN(dst, a, b Matrix, s *Scratch)
	// MulNT stores a·bᵀ: a is m×k, b is n×k, dst is m×n.
	MulNT(dst, a, b Matrix, s *Scratch)
	// MulTN stores aᵀ·b: a is k×m, b is k×n, dst is m×n.
	MulTN(dst, a, b Matrix, s *Scratch)
	// Axpy adds alpha·x to dst, which is at least as long.
	Axpy(dst, x []float32, alpha float32)
}

// Elements take vectors value by value. Every set computes the same bits. Other
// arguments are at least as long as the one that gives the length.
type Elements interface {
	// Add adds x to dst.
	Add(dst, x []float32)
	// Scale stores alpha·x in dst, which may be x.
	Scale(dst, x []float32, alpha float32)
	// Dot returns Σ x·y in double precision: 16 sums over the positions modulo
	// 16, then halves added to halves.
	Dot(x, y []float32) float64
	// ReLU stores max(x, 0); what is not a number stays so.
	ReLU(dst, x []float32)
	// ReLUGrad stores g where y is not 0, else 0.
	ReLUGrad(dst, y, g []float32)
	// Adam moves the weights p and the moments m and v by gradient g, in one
	// pass. It reports whether every gradient and weight is finite.
	Adam(s *AdamStep, p, g, m, v []float32) bool
	// Idle makes the steps one after the other with gradients that are all 0. It
	// reports whether every weight is finite after the last one.
	Idle(steps []AdamStep, p, m, v []float32) bool
}

// Columns take matrices column by column, rows in ascending order. Every set
// computes the same bits. Sums have a value per column.
type Columns interface {
	// ColumnSums stores Σ x.
	ColumnSums(sums []float64, x Matrix)
	// ColumnSquares stores Σ (x − centre)².
	ColumnSquares(sums, centre []float64, x Matrix)
	// ColumnDots stores Σ x·y.
	ColumnDots(sums []float64, x, y Matrix)
	// Normalise stores z = (x − Shift)·Inverse and dst = z·Weight + Bias.
	Normalise(dst, z, x Matrix, n *Normalisation)
	// NormaliseGrad stores Weight·Inverse·(g − Share·(Sum + z·Along)).
	NormaliseGrad(dst, z, g Matrix, n *Normalisation)
}
