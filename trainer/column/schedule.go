package column

import (
	"lethe"
	"lethe/trainer"
)

// Window returns the end of a column that the checkpoint after its last entry is
// trained on. Entries are whatever stands for the slices: slices, their digests,
// their timesteps. The result aliases the column.
func Window[T any](c trainer.Config, column []T) []T {
	return column[max(0, len(column)-c.WindowTimesteps):]
}

// Lineages returns the lineage that the checkpoint after every slice of a column
// must have, from the canonical digests of all its slices, oldest first.
func Lineages(c trainer.Config, slices []lethe.Digest) []lethe.Digest {
	out := make([]lethe.Digest, len(slices))
	var lineage lethe.Digest
	for i := range slices {
		lineage = c.LineageOf(lineage, Window(c, slices[:i+1]))
		out[i] = lineage
	}
	return out
}
