package column

import "lethe/trainer"

// Window returns the end of a column that the checkpoint after its last entry is
// trained on. Entries are whatever stands for the slices: slices, their digests,
// their timesteps. The result aliases the column.
func Window[T any](c trainer.Config, column []T) []T {
	return column[max(0, len(column)-c.WindowTimesteps):]
}
