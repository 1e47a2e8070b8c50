package kernels

import (
	"math"
	"math/bits"
)

// tiles are the innermost loops of the fused products for one kind of processor. All kinds
// compute the same bits.
type tiles interface {
	size() tileSize
	tile(t *tile)
	// gather fills panels from rows, transpose fills one from columns. transpose may overwrite up to
	// 15 rows of dst after the last.
	gather(p *packing)
	transpose(p *packing)
}

// tileSize is the height and width of a tile. A lower tile has a multiple of step rows. If a tile
// can read neither operand in place, panels are packed.
type tileSize struct {
	height, step, width int
	// steps means that a tile supports aStep and bStep, with adjacent values of a, and reads no
	// column that does not exist.
	steps bool
	// rows means that a tile supports aStep and aRow. It always reads its full height of rows.
	rows bool
}

// plainTiles run on any processor, with fused multiply-adds emulated in float64.
type plainTiles struct{}

func (plainTiles) size() tileSize { return tileSize{height: 4, step: 4, width: 16, steps: true} }

func (plainTiles) tile(t *tile) {
	width := bits.OnesCount64(t.mask)
	for i := range t.rows {
		out := t.c[i*t.stride/4:][:width]
		if t.add == 0 {
			clear(out)
		}
		for k := range t.k {
			alpha, row := t.a[k*t.aStep/4+i], t.b[k*t.bStep/4:][:width]
			for j := range out {
				out[j] = fusedMultiplyAdd(alpha, row[j], out[j])
			}
		}
	}
}

func (plainTiles) gather(p *packing) { gatherPlain(p) }

func (plainTiles) transpose(p *packing) { transposePlain(p) }

func gatherPlain(p *packing) {
	live, width := bits.OnesCount64(p.load), bits.OnesCount64(p.store)
	for i := range p.count {
		for panel := range p.panels {
			row := p.dst[(i*p.dstStride+panel*p.panelStride)/4:][:width]
			clear(row[copy(row, p.src[(i*p.srcStride+panel*p.dstStride)/4:][:live]):])
		}
	}
}

func transposePlain(p *packing) {
	width, to := bits.OnesCount64(p.store), p.dstStride/4
	row := func(i int) []float32 { return p.src[i*p.srcStride/4:][:p.count] }
	i := 0
	// Four rows at a time, which writes a line of the panel a quarter as often.
	for ; i+3 < min(width, p.rows); i += 4 {
		r0, r1, r2, r3 := row(i), row(i+1), row(i+2), row(i+3)
		r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
		for j, v := range r0 {
			dst := p.dst[j*to+i:][:4]
			dst[0], dst[1], dst[2], dst[3] = v, r1[j], r2[j], r3[j]
		}
	}
	for ; i < width; i++ {
		if i >= p.rows {
			for j := range p.count {
				p.dst[j*to+i] = 0
			}
			continue
		}
		for j, v := range row(i) {
			p.dst[j*to+i] = v
		}
	}
}

// fusedMultiplyAdd returns x·y + z rounded once. The product is exact in
// float64; the sum is rounded there to odd, which makes the second rounding to
// float32 harmless (Boldo and Melquiond, "Emulation of a FMA and
// Correctly-Rounded Sums", IEEE TC 2008).
func fusedMultiplyAdd(x, y, z float32) float32 {
	p, c := float64(float64(x)*float64(y)), float64(z)
	sum := p + c
	// The error of the sum, exactly (Knuth's TwoSum).
	virtual := sum - p
	lost := (p - (sum - virtual)) + (c - virtual)
	if lost != 0 && lost-lost == 0 {
		if b := math.Float64bits(sum); b&1 == 0 {
			if (lost > 0) == (sum > 0) {
				b++
			} else {
				b--
			}
			sum = math.Float64frombits(b)
		}
	}
	return float32(sum)
}
