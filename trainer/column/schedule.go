package column

import (
	"slices"

	"lethe"
	"lethe/trainer"
)

// Window returns the end of a column that the checkpoint after its last entry is
// trained on. Entries are whatever stands for the slices: slices, their digests,
// their timesteps. The result aliases the column. Options must be complete.
func Window[T any](o trainer.Options, column []T) []T {
	return column[max(0, len(column)-o.WindowTimesteps):]
}

// Stale returns the timesteps whose checkpoint depends on the slice of one of
// them, which was replaced: those that have to be trained again, in this order.
// timesteps are all of the column, ascending; the result aliases them and is empty
// if the column has no such slice. Options must be complete.
//
// Under trainer.Continual these are all from the replaced one on. Under
// trainer.Window they end with the last window that holds it, so that a replaced
// slice older than the window leaves the newest checkpoint as it is.
func Stale(o trainer.Options, timesteps []lethe.Timestep, replaced lethe.Timestep) []lethe.Timestep {
	at, found := slices.BinarySearch(timesteps, replaced)
	switch {
	case !found:
		return nil
	case o.Schedule == trainer.Window:
		return timesteps[at:min(at+o.WindowTimesteps, len(timesteps))]
	default:
		return timesteps[at:]
	}
}

// Lineages returns the lineage that the checkpoint after every slice of a column
// must have, from the canonical digests of all its slices, oldest first. Options
// must be complete.
func Lineages(o trainer.Options, slices []lethe.Digest) []lethe.Digest {
	out := make([]lethe.Digest, len(slices))
	var lineage lethe.Digest
	for i := range slices {
		lineage = o.LineageOf(lineage, Window(o, slices[:i+1]))
		out[i] = lineage
	}
	return out
}
