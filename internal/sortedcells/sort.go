package sortedcells

import "slices"

// firstBytes is the number of values of a key's first byte.
const firstBytes = 256

// Sort sorts elements by compare, whose order must agree with that of the first byte that first returns. Long lists
// are split by that byte first: keys that are hashes are spread evenly over it, and sorting small parts is faster.
func Sort[T any](list []T, first func(*T) byte, compare func(a, b T) int) {
	const fewest = 4 * firstBytes
	if len(list) < fewest {
		slices.SortFunc(list, compare)
		return
	}
	var next [firstBytes]int
	for i := range list {
		next[first(&list[i])]++
	}
	sum := 0
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	sorted := make([]T, len(list))
	for i := range list {
		at := &next[first(&list[i])]
		sorted[*at] = list[i]
		*at++
	}
	from := 0
	for _, end := range next { // by now next holds the end of each part
		slices.SortFunc(sorted[from:end], compare)
		from = end
	}
	copy(list, sorted)
}
