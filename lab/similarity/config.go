package similarity

import "lethe/internal/check"

// Bounds of the pyramid's shape. They keep a histogram's indices well within 32 bits and limit the
// size of a malicious stored histogram.
const (
	maxDimensions = 16
	maxLevels     = 12
	maxDenseLimit = 2000
)

// Config is the shape of the pyramid match. Histograms are comparable only if they have the same
// Dimensions and Levels.
type Config struct {
	// Dimensions is the number d of eigenvectors.
	Dimensions int
	// Levels is the index L of the finest level: level l divides [0, 1] into 2^l cells.
	Levels int
	// DenseLimit is the largest connected component, in nodes, that is
	// decomposed densely; above it a Krylov method finds the leading
	// eigenvectors.
	DenseLimit int
}

// Defaults returns the shape that every aggregation vector has.
func Defaults() Config {
	return Config{
		// As in the authors' program. More would include eigenvalues that small shard graphs
		// share by chance, fewer would cover only the largest hubs.
		Dimensions: 6,
		// The five levels 0 to 4, the paper's formula read literally. (GraKeL's
		// L = 4 means levels 0 to 3.)
		Levels: 4,
		// At this size both methods take about as long. The dense one takes time cubic in the
		// limit, which is therefore at most 2000.
		DenseLimit: 100,
	}
}

// Validate reports every field that is out of range.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("dimensions", c.Dimensions, 1, maxDimensions)
	p.Whole("levels", c.Levels, 1, maxLevels)
	p.Whole("dense_limit", c.DenseLimit, 1, maxDenseLimit)
	return p.Err()
}
