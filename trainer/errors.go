package trainer

import (
	"errors"

	"lethe/trainer/layers"
)

var (
	// ErrNoLabels means that no row carries a loss: every label is unknown, or
	// every class that occurs has weight 0. Skip the slice.
	ErrNoLabels = layers.ErrNoLabels

	// ErrNotFinite means that a loss, a gradient or a weight is infinite or not
	// a number. The previous checkpoint is unharmed: keep serving it, and look
	// at the named slice or lower the learning rate.
	ErrNotFinite = errors.New("value is not finite")

	// ErrInvalidSlice means that the slices handed in contradict themselves or
	// each other. Rebuild them; training again with the same ones fails again.
	ErrInvalidSlice = errors.New("invalid slice")

	// ErrIncompatible means that a checkpoint was made with other options, for
	// another shard, for another number of features or with another kernel
	// set. Train the shard afresh from its slices.
	ErrIncompatible = errors.New("incompatible checkpoint")
)
