package column

import (
	"slices"

	"lethe"
	"lethe/trainer"
)

// Window returns the end of a column that the checkpoint after its last entry is
// trained on. Entries are whatever stands for the slices: slices, their digests,
// their timesteps. The result aliases the column.
func Window[T any](c trainer.Config, column []T) []T {
	return column[max(0, len(column)-c.WindowTimesteps):]
}

// Stale returns the timesteps whose checkpoint depends on the slice of one of
// them, which was replaced: those that have to be trained again, in this order.
// timesteps are all of the column, ascending; the result aliases them and is empty
// if the column has no such slice.
//
// Under trainer.Continual these are all from the replaced one on. Under
// trainer.Window they end with the last window that holds it, so that a replaced
// slice older than the window leaves the newest checkpoint as it is.
func Stale(c trainer.Config, timesteps []lethe.Timestep, replaced lethe.Timestep) []lethe.Timestep {
	at, found := slices.BinarySearch(timesteps, replaced)
	switch {
	case !found:
		return nil
	case c.Schedule == trainer.Window:
		return timesteps[at:min(at+c.WindowTimesteps, len(timesteps))]
	default:
		return timesteps[at:]
	}
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
