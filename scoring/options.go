package scoring

import (
	"errors"
	"fmt"
)

// Bounds of the pyramid's shape. They keep a histogram's indices far inside 32
// bits and a hostile stored histogram small.
const (
	maxDimensions = 16
	maxLevels     = 12
	maxDenseLimit = 2000
)

// PyramidOptions is the shape of the pyramid match. The zero value of a field
// stands for its default.
type PyramidOptions struct {
	// Dimensions is the number d of eigenvectors, 6 by default as in the
	// authors' program. More would reach into eigenvalues that small shard
	// graphs share by chance, fewer would see the largest hubs only.
	Dimensions int
	// Levels is the index L of the finest level: level l cuts [0, 1] into 2^l
	// cells, so the default 4 means the five levels 0 to 4, the paper's formula
	// read literally. (GraKeL's L = 4 means levels 0 to 3.)
	Levels int
	// DenseLimit is the largest connected component, in nodes, that is
	// decomposed densely; above it a Krylov method finds the leading
	// eigenvectors. The default 100 is where both take about as long. The
	// dense way takes time cubic in the limit, hence the bound of 2000.
	DenseLimit int
}

// EnsureDefaults replaces zero fields by their defaults.
func (o *PyramidOptions) EnsureDefaults() {
	if o.Dimensions == 0 {
		o.Dimensions = 6
	}
	if o.Levels == 0 {
		o.Levels = 4
	}
	if o.DenseLimit == 0 {
		o.DenseLimit = 100
	}
}

// Validate reports every field that is out of bounds.
func (o *PyramidOptions) Validate() error {
	check := func(name string, value, limit int) error {
		if value < 1 || value > limit {
			return fmt.Errorf("pyramid %s is %d, want 1 to %d", name, value, limit)
		}
		return nil
	}
	return errors.Join(
		check("dimensions", o.Dimensions, maxDimensions),
		check("levels", o.Levels, maxLevels),
		check("dense limit", o.DenseLimit, maxDenseLimit),
	)
}
