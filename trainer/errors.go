package trainer

import "errors"

var (
	// ErrNotFinite means that a loss, a gradient or a weight is infinite or NaN. The previous
	// checkpoint is intact: continue to serve it, and check the named slice or lower the learning
	// rate.
	ErrNotFinite = errors.New("value is not finite")

	// ErrInvalidSlice means that the given slices are inconsistent. Rebuild them; a retry with the
	// same slices fails again.
	ErrInvalidSlice = errors.New("invalid slice")

	// ErrIncompatible means that a checkpoint was made with other options, for another shard, for
	// another number of features or with another kernel set. Retrain the shard from its slices.
	ErrIncompatible = errors.New("incompatible checkpoint")
)
