package loops

import (
	"math"
	"slices"
)

// maskCall holds the arguments of the loop over values of named columns.
type maskCall struct {
	dst, values *float32
	columns     *uint32
	count       int
	key         uint64
	limit       uint32
	rest        float32
}

type avx512Draws struct{}

// Below implements Draws.
func (avx512Draws) Below(into []uint32, keys []uint64, key, limit uint64) []uint32 {
	if len(keys) == 0 {
		return into
	}
	used := len(into)
	into = slices.Grow(into, len(keys))
	found := belowAVX512(&into[:used+1][used], &keys[0], len(keys), key, limit)
	return into[:used+found]
}

// Mask implements Draws.
func (avx512Draws) Mask(mask []float32, key, limit uint64, rest float32) {
	if limit > math.MaxUint32 {
		clear(mask)
		return
	}
	if len(mask) > 0 {
		maskAVX512(&mask[0], len(mask), key, uint32(limit), rest)
	}
}

// MaskColumns implements Draws.
func (avx512Draws) MaskColumns(dst, values []float32, columns []uint32, key, limit uint64, rest float32) {
	if limit > math.MaxUint32 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		values, columns = values[:len(dst)], columns[:len(dst)]
		maskColumnsAVX512(&maskCall{
			dst: &dst[0], values: &values[0], columns: &columns[0], count: len(dst),
			key: key, limit: uint32(limit), rest: rest,
		})
	}
}

//go:noescape
func maskColumnsAVX512(c *maskCall)

//go:noescape
func maskAVX512(mask *float32, n int, key uint64, limit uint32, rest float32)

//go:noescape
func belowAVX512(into *uint32, keys *uint64, n int, key, limit uint64) int
