package sortedcells

import "slices"

// firstBytes are the values that the first byte of a key has.
const firstBytes = 256

// Sort sorts elements that compare tells apart by keys whose first byte is first. Where there are many, they are dealt
// by that byte first: keys that are hashes have as many of each, and comparing what is in no order is what takes
// long.
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
	dealt := make([]T, len(list))
	for i := range list {
		at := &next[first(&list[i])]
		dealt[*at] = list[i]
		*at++
	}
	from := 0
	for _, end := range next { // which is where the next ones begin by now
		slices.SortFunc(dealt[from:end], compare)
		from = end
	}
	copy(list, dealt)
}
