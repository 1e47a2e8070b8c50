// Package sorting sorts lists of large or rarely sorted records. Package slices would add
// its sorting to the binary once more for each kind of record, 10 to 25 kB each.
package sorting

import "sort"

// By sorts by an order that tells any two different records apart.
func By[T any](list []T, compare func(a, b T) int) {
	sort.Slice(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// StableBy sorts, and leaves records that are equal in the order as they stand.
func StableBy[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
