package trees

// stride is the number of cells of a feature in a histogram: one per bin plus padding, because
// cells of equal bins at a distance of 4096 bytes slow processors down.
const stride = maxBins + 4

// plane holds the sums of a leaf's rows, by bin, for eight features.
type plane [lanes][stride]cell

// clear empties the first bins of every lane.
func (p *plane) clear(bins int) {
	for lane := range p {
		clear(p[lane][:bins])
	}
}

// add adds the rows of a leaf; cells are in the leaf's own order.
func (p *plane) add(words []uint64, rows []int32, cells []cell) {
	if cells = cells[:len(rows)]; len(cells) > 0 {
		addListed(p, words, rows, cells)
	}
}

// addAll is add for all rows.
func (p *plane) addAll(words []uint64, cells []cell) {
	if cells = cells[:len(words)]; len(cells) > 0 {
		addAll(p, words, cells)
	}
}

// subtract subtracts one child's sums, which leaves the other's.
func subtract(all, child []cell) {
	child = child[:len(all)]
	for bin := range all {
		all[bin].gradient -= child[bin].gradient
		all[bin].packed -= child[bin].packed
	}
}
