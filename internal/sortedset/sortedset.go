// Package sortedset represents a set as an ascending list without duplicates, the form in which
// sets are stored and published because it is deterministic.
package sortedset

import (
	"cmp"
	"slices"
)

// Of sorts the list, removes duplicates and returns the set, which reuses the list's memory.
func Of[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

// Add returns the set with the items, in any order, added. It may reuse the set's memory.
func Add[T cmp.Ordered](set []T, items ...T) []T { return Of(append(set, items...)) }
