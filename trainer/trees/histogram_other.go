//go:build !amd64

package trees

func addAll(p *plane, words []uint64, cells []cell) {
	for k, w := range words {
		p.addRow(w, cells[k])
	}
}

func addListed(p *plane, words []uint64, rows []int32, cells []cell) {
	for k, i := range rows {
		p.addRow(words[i], cells[k])
	}
}

// addRow adds a row to every lane. The lanes are unrolled: constant indices need no bounds
// checks.
func (p *plane) addRow(w uint64, by cell) {
	p[0][uint8(w)].add(by)
	p[1][uint8(w>>8)].add(by)
	p[2][uint8(w>>16)].add(by)
	p[3][uint8(w>>24)].add(by)
	p[4][uint8(w>>32)].add(by)
	p[5][uint8(w>>40)].add(by)
	p[6][uint8(w>>48)].add(by)
	p[7][w>>56].add(by)
}

func (c *cell) add(d cell) { c.gradient, c.packed = c.gradient+d.gradient, c.packed+d.packed }

// packAll leaves all rows to the loop over listed ones.
func packAll([]uint64, *[lanes][]uint8) int { return 0 }
