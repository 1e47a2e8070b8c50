package kernels

// tile holds the arguments of a multiplying loop: rows × columns of c are set to the product of a
// panel of a (k × height) and one of b (k × width), or increased by it.
type tile struct {
	a, b, c []float32
	// k is at least 1; stride is the bytes between rows of c, aStep and bStep those between the
	// steps of k in the panels.
	k, stride, aStep, bStep int
	// rows (up to height) and the columns in mask exist in c.
	rows, height int
	mask         uint64
	// add is 1 to add to c, 0 to overwrite it.
	add int
	// aRow is the bytes between the rows of a, for tiles whose size has rows set.
	aRow int
}

// packing holds the arguments of a loop that fills panels.
type packing struct {
	dst, src []float32
	// dstStride and srcStride are the bytes between rows.
	dstStride, srcStride int
	// count is the number of rows to copy, or of columns to transpose.
	count int
	// panels is the number of panels that a row is copied to, each dstStride further in src and
	// panelStride bytes further in dst.
	panels, panelStride int
	// rows is the number of rows to transpose.
	rows int
	// load and store are the masks of the columns to read and to write.
	load, store uint64
}

const (
	// blockDepth bounds the k of a tile, so that a panel of a stays in the first-level cache while
	// the panels of b are processed.
	blockDepth = 352
	// blockColumns bounds the columns of b packed at once, so that they stay in the second-level
	// cache while the rows of a are processed.
	blockColumns = 384
	// leftPanels is the number of panels of a packed at once, so that the cache lines of a
	// transposed one are read once.
	leftPanels = 8
	// narrowColumns bounds the columns of an operand that is read in place: rows of a wide one map
	// to the same cache sets.
	narrowColumns = 128
	// nearColumns bounds the columns of a left operand whose rows are read in place for a wide
	// result, which reads each row often.
	nearColumns = 512
	// packSlack is the space after the panels that transposing may overwrite.
	packSlack = 15 * 32
)

// operand is a matrix in a product; it is transposed if turned.
type operand struct {
	Matrix
	turned bool
}

// inPlace reports whether panels can be read from the operand, one row per step of k.
func (o operand) inPlace(size tileSize) bool {
	return size.steps && !o.turned && o.Cols <= narrowColumns
}

// block is a part of an operand: depth steps of k starting at k, and length rows of a, or columns
// of b, starting at from.
type block struct{ k, depth, from, length int }

// multiplication is a product in progress, after Goto and van de Geijn ("Anatomy of
// High-Performance Matrix Multiplication", ACM TOMS 2008): blocks of b are packed into panels as
// wide as a tile, blocks of a into panels as high as one, and every tile of the result is
// computed from two panels. Operands with short rows are read in place.
type multiplication struct {
	tiles       tiles
	dst         Matrix
	a, b        operand
	left, right []float32
	tile        tile
	pack        packing
}

// multiply stores a·b, where a has depth columns. Every element is a chain of fused multiply-adds
// over ascending k that starts at 0.
func (s *Scratch) multiply(with tiles, dst Matrix, a, b operand, depth int) {
	if depth == 0 || len(dst.Data) == 0 {
		clear(dst.Data)
		return
	}
	size := with.size()
	blocks := (depth + blockDepth - 1) / blockDepth
	kc := (depth + blocks - 1) / blocks
	mc := min(size.height*leftPanels, roundUp(dst.Rows, size.step))
	nc := min(blockColumns, roundUp(dst.Cols, size.width))
	m := &s.product
	m.tiles, m.dst, m.a, m.b = with, dst, a, b
	m.left = room(&s.left, kc*mc+packSlack)
	m.right = room(&s.right, kc*nc+packSlack)
	for column := 0; column < dst.Cols; column += nc {
		for k := 0; k < depth; k += kc {
			columns := block{k, min(kc, depth-k), column, min(nc, dst.Cols-column)}
			if !b.inPlace(size) {
				m.packPanels(m.right, b, columns, size.width)
			}
			for row := 0; row < dst.Rows; row += mc {
				rows := block{k, columns.depth, row, min(mc, dst.Rows-row)}
				m.packLeft(rows, size)
				m.strip(rows, columns, size)
			}
		}
	}
	*m = multiplication{}
}

// leftInPlace returns how many of the length rows of a block of a are read in place: whole panels
// of rows, or all if their values for one step of k are contiguous. A tile always reads its full
// height, so that many rows must exist.
func (m *multiplication) leftInPlace(length int, size tileSize) int {
	a := operand{Matrix: m.a.Matrix, turned: !m.a.turned}
	switch {
	case size.rows && !m.a.turned && (m.a.Cols <= nearColumns || m.dst.Cols <= narrowColumns):
		return length / size.height * size.height
	case a.inPlace(size) && m.dst.Rows%size.step == 0:
		return length
	}
	return 0
}

// strip computes the tiles of two blocks.
func (m *multiplication) strip(rows, columns block, size tileSize) {
	t := &m.tile
	t.k, t.stride, t.add = rows.depth, 4*m.dst.Cols, min(1, rows.k)
	left, right := m.leftInPlace(rows.length, size), m.b.inPlace(size)
	for i := 0; i < rows.length; i += size.height {
		t.rows = min(size.height, rows.length-i)
		t.height = roundUp(t.rows, size.step)
		t.a, t.aRow, t.aStep = m.left[i*t.k:], 4, 4*t.height
		if i < left {
			m.readLeft(t, rows.k, rows.from+i)
		}
		for j := 0; j < columns.length; j += size.width {
			t.b, t.bStep = m.right[j*t.k:], 4*size.width
			if right {
				t.b, t.bStep = m.b.Data[columns.k*m.b.Cols+columns.from+j:], 4*m.b.Cols
			}
			t.c = m.dst.Data[(rows.from+i)*m.dst.Cols+columns.from+j:]
			t.mask = lowBits(min(size.width, columns.length-j))
			m.tiles.tile(t)
		}
	}
}

// readLeft makes a tile read a in place, starting at a step of k and a row.
func (m *multiplication) readLeft(t *tile, k, row int) {
	if m.a.turned {
		t.a, t.aRow, t.aStep = m.a.Data[k*m.a.Cols+row:], 4, 4*m.a.Cols
		return
	}
	t.a, t.aRow, t.aStep = m.a.Data[row*m.a.Cols+k:], 4*m.a.Cols, 4
}

// packLeft packs the rows of a block of a that are not read in place. The last panel is only as
// high as necessary.
func (m *multiplication) packLeft(at block, size tileSize) {
	a := operand{Matrix: m.a.Matrix, turned: !m.a.turned}
	first, whole := m.leftInPlace(at.length, size), at.length/size.height*size.height
	if first < whole {
		m.packPanels(m.left[first*at.depth:], a, block{at.k, at.depth, at.from + first, whole - first}, size.height)
	}
	if rest := at.length - max(first, whole); rest > 0 {
		m.packPanels(m.left[whole*at.depth:], a, block{at.k, at.depth, at.from + whole, rest}, roundUp(rest, size.step))
	}
}

// packPanels stores a block as panels of width columns, each k-major.
func (m *multiplication) packPanels(dst []float32, from operand, at block, width int) {
	p := &m.pack
	*p = packing{dstStride: 4 * width, srcStride: 4 * from.Cols, panelStride: 4 * width * at.depth, count: at.depth}
	if from.turned {
		for j := 0; j < at.length; j += width {
			live := min(width, at.length-j)
			for i := 0; i < live; i += 16 {
				p.dst, p.src = dst[j*at.depth+i:], from.Data[(at.from+j+i)*from.Cols+at.k:]
				p.rows, p.store = min(16, live-i), lowBits(min(16, width-i))
				m.tiles.transpose(p)
			}
		}
		return
	}
	for j := 0; j < at.length; j += p.panels * width {
		p.dst, p.src = dst[j*at.depth:], from.Data[at.k*from.Cols+at.from+j:]
		p.panels = max(1, (at.length-j)/width)
		p.load, p.store = lowBits(min(width, at.length-j)), lowBits(width)
		m.tiles.gather(p)
	}
}

// lowBits returns a mask of the n lowest bits.
func lowBits(n int) uint64 { return 1<<n - 1 }

func roundUp(n, to int) int { return (n + to - 1) / to * to }
