// Package floatbytes writes and reads rows of features as bytes: of each value the bits of IEEE 754, in four bytes,
// little-endian. All formats of lethe keep rows like this, so that one search of the disk finds a row in any of them.
//
// A machine that is little-endian, too, has the same bytes in memory, and copies them. Others turn them around.
package floatbytes

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
)

// Size is how many bytes a value takes.
const Size = 4

// Append appends the bytes of values.
func Append(dst []byte, values []float32) []byte {
	if !copies() {
		return appendTurned(dst, values)
	}
	return append(dst, memoryOf(values)...)
}

// View returns the bytes of values: where they are in memory as they are written, that memory, and otherwise scratch
// with them appended.
func View(scratch []byte, values []float32) []byte {
	if !copies() {
		return appendTurned(scratch, values)
	}
	return memoryOf(values)
}

// AppendValues appends the values that bytes stand for. Fewer than Size at their end stand for none.
func AppendValues(dst []float32, raw []byte) []float32 {
	if !copies() {
		return appendTurnedValues(dst, raw)
	}
	from, n := len(dst), len(raw)/Size
	dst = slices.Grow(dst, n)[:from+n]
	copy(memoryOf(dst[from:]), raw)
	return dst
}

// copies reports whether values are in memory as they are written.
func copies() bool {
	const one = 1
	return binary.NativeEndian.Uint16([]byte{one, 0}) == one
}

// memoryOf is the memory that values are in.
func memoryOf(values []float32) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), Size*len(values)) //nolint:gosec // as many bytes as there are
}

// appendTurned is Append on any machine.
func appendTurned(dst []byte, values []float32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// appendTurnedValues is AppendValues on any machine.
func appendTurnedValues(dst []float32, raw []byte) []float32 {
	for ; len(raw) >= Size; raw = raw[Size:] {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return dst
}
