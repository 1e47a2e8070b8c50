package snapshot

import "errors"

var (
	// ErrCorrupt marks stored bytes that cannot be what was written. The store
	// has to be rebuilt from the topics.
	ErrCorrupt = errors.New("corrupt snapshot store")

	// ErrIncompatible is returned by Open when the store was written with another
	// secret, partition count, feature count or format. Open it with the options
	// it was written with, or rebuild it from the topics.
	ErrIncompatible = errors.New("snapshot store was written with other options")

	// ErrUnknownTimestep is returned for a timestep that has no transaction. It is
	// a programmer's error: see Timesteps.
	ErrUnknownTimestep = errors.New("timestep is not known")

	// ErrNotReady is returned for a step that is not due: a timestep that is not
	// listed by Ready, or one that is not closed yet. Consume on and try again.
	ErrNotReady = errors.New("timestep is not ready")

	// ErrStale is returned by a Batch that is used after Commit, or after another
	// call changed the store. Nothing of it was stored: begin again at Offsets.
	ErrStale = errors.New("batch is stale")
)
