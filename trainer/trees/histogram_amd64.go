package trees

// Both sums of a cell are in one register, with half as many loads and stores as compiled code. Bins are bytes,
// below the histograms' stride, and rows are those of the words: no other memory is accessed.

func addAll(p *plane, words []uint64, cells []cell) { addAllRows(p, &words[0], &cells[0], len(cells)) }

func addListed(p *plane, words []uint64, rows []int32, cells []cell) {
	addListedRows(p, &words[0], &rows[0], &cells[0], len(cells))
}

//go:noescape
func addAllRows(p *plane, words *uint64, cells *cell, n int)

//go:noescape
func addListedRows(p *plane, words *uint64, rows *int32, cells *cell, n int)

// packAll packs all rows, sixteen at a time, and returns how many.
func packAll(words []uint64, columns *[lanes][]uint8) int {
	var starts [lanes]*uint8
	whole := len(words) &^ 15
	if whole == 0 {
		return 0
	}
	for lane, c := range columns {
		starts[lane] = &c[:whole][0]
	}
	packRows(&words[0], &starts, whole)
	return whole
}

// packRows packs a multiple of sixteen rows.
//
//go:noescape
func packRows(words *uint64, columns *[lanes]*uint8, n int)
