package column

import (
	"slices"

	"lethe"
	"lethe/trainer"
)

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
