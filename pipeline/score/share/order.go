package share

import (
	"slices"

	"lethe"
)

// Order returns in which order the member at a place of several asks so many models. Models are
// dealt out in turn, so that each member begins with some of each kind. The first member leads:
// it goes on from the end of what the others have, so that it meets them. The others go on with
// those of the members behind them, and come to the leader's last.
func Order(place, members, models int) []lethe.ShardID {
	var parts [][]lethe.ShardID
	for k := range members {
		var part []lethe.ShardID
		for m := k; m < models; m += members {
			part = append(part, lethe.ShardID(m))
		}
		parts = append(parts, part)
	}
	if place == 0 {
		rest := slices.Concat(parts[1:]...)
		slices.Sort(rest)
		slices.Reverse(rest)
		return slices.Concat(parts[0], rest)
	}
	others := parts[1:]
	return slices.Concat(slices.Concat(others[place-1:]...), slices.Concat(others[:place-1]...), parts[0])
}
