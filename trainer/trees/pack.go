package trees

// lanes is how many features share a word of bins, one byte each.
const lanes = 8

// packed holds the bins of some rows by some features, eight features a word, so
// that a row of a small leaf is read with one access per eight features.
type packed struct {
	// features are those of the lanes, ascending.
	features []int
	// words holds a block of rows per eight features.
	words [][]uint64
}

// block returns the features of a block.
func (p *packed) block(b int) []int { return p.features[b*lanes : min(len(p.features), (b+1)*lanes)] }

// pack takes the features' bins of the given rows out of all. It reuses the
// memory of p.
func (p *packed) pack(data *binned, rows []int32, features []int) {
	p.features = features
	blocks := (len(features) + lanes - 1) / lanes
	for len(p.words) < blocks {
		p.words = append(p.words, nil)
	}
	p.words = p.words[:blocks]
	for b := range p.words {
		if cap(p.words[b]) < len(rows) {
			p.words[b] = make([]uint64, len(rows))
		}
		p.words[b] = p.words[b][:len(rows)]
		var columns [lanes][]uint8
		for lane := range columns {
			// A block with too few features repeats its last one.
			of := p.block(b)
			columns[lane] = data.column(of[min(lane, len(of)-1)])
		}
		packBlock(p.words[b], rows, &columns)
	}
}

// packBlock is given rows that are all there are, or some of them, ascending.
func packBlock(words []uint64, rows []int32, columns *[lanes][]uint8) {
	done := 0
	if len(rows) == len(columns[0]) {
		done = packAll(words[:len(rows)], columns)
	}
	c0, c1, c2, c3 := columns[0], columns[1], columns[2], columns[3]
	c1, c2, c3 = c1[:len(c0)], c2[:len(c0)], c3[:len(c0)]
	for k := done; k < len(rows); k++ {
		i := rows[k]
		words[k] = uint64(c0[i]) | uint64(c1[i])<<8 | uint64(c2[i])<<16 | uint64(c3[i])<<24
	}
	c0, c1, c2, c3 = columns[4], columns[5], columns[6], columns[7]
	c1, c2, c3 = c1[:len(c0)], c2[:len(c0)], c3[:len(c0)]
	for k := done; k < len(rows); k++ {
		i := rows[k]
		words[k] |= uint64(c0[i])<<32 | uint64(c1[i])<<40 | uint64(c2[i])<<48 | uint64(c3[i])<<56
	}
}

// place is where a feature's bins are: a block and the shift of a lane.
func place(position int) (block int, shift uint) { return position / lanes, uint(position % lanes * 8) }
