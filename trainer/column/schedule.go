package column

import "lethe/trainer"

// Window returns the last entries of a column: those that the checkpoint after the last entry is
// trained on. Entries may be slices, their digests or their timesteps. The result aliases the
// column.
func Window[T any](c trainer.Config, column []T) []T {
	return column[max(0, len(column)-c.WindowTimesteps):]
}
