// Package sortedcells holds a value for each of many 16-byte keys that are known in advance, such as pseudonyms.
// Sorting them takes less time and memory than a map, and the order is that in which a store reads and writes them.
package sortedcells

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// Key is the key of a value.
type Key = [16]byte

// Cell is a key and its value.
type Cell[V any] struct {
	Key   Key
	Value V
}

// Table holds the cells of some keys, ascending and without duplicates. A nil Table is empty.
type Table[V any] struct{ Cells []Cell[V] }

// highBits is the shift that leaves the first eight bits of a 64-bit number.
const highBits = 56

// Of returns the table of some keys, and the cell of each key. Equal keys share a cell.
func Of[V any](keys []Key) (t *Table[V], of []*Cell[V]) {
	type place struct {
		high, low uint64
		at        int
	}
	order := make([]place, len(keys))
	for i := range keys {
		order[i] = place{binary.BigEndian.Uint64(keys[i][:8]), binary.BigEndian.Uint64(keys[i][8:]), i}
	}
	Sort(order, func(p *place) byte { return byte(p.high >> highBits) }, func(a, b place) int {
		if a.high != b.high {
			return cmp.Compare(a.high, b.high)
		}
		return cmp.Compare(a.low, b.low)
	})
	t, of = &Table[V]{Cells: make([]Cell[V], 0, len(keys))}, make([]*Cell[V], len(keys))
	for _, p := range order {
		if n := len(t.Cells); n == 0 || t.Cells[n-1].Key != keys[p.at] {
			t.Cells = append(t.Cells, Cell[V]{Key: keys[p.at]}) // within capacity, so pointers stay valid
		}
		of[p.at] = &t.Cells[len(t.Cells)-1]
	}
	return t, of
}

// Find returns the cell of a key, or nil.
func (t *Table[V]) Find(key Key) *Cell[V] {
	if t == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(t.Cells, key, func(c Cell[V], k Key) int { return bytes.Compare(c.Key[:], k[:]) })
	if !found {
		return nil
	}
	return &t.Cells[i]
}
