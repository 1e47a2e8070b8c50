// Package floatbytes encodes rows of features: the IEEE 754 bits of each value in four bytes, little-endian. All
// formats of lethe store rows in this form, so that one search of the disk finds a row in any of them.
//
// On little-endian machines the memory has the same bytes and is copied; other machines convert.
package floatbytes

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
)

// Size is the number of bytes of a value.
const Size = 4

// Append appends the bytes of values.
func Append(dst []byte, values []float32) []byte {
	if !copies() {
		return appendTurned(dst, values)
	}
	return append(dst, memoryOf(values)...)
}

// View returns the bytes of values: their memory on little-endian machines, otherwise scratch with the bytes
// appended.
func View(scratch []byte, values []float32) []byte {
	if !copies() {
		return appendTurned(scratch, values)
	}
	return memoryOf(values)
}

// AppendValues appends the decoded values. It ignores a remainder shorter than Size.
func AppendValues(dst []float32, raw []byte) []float32 {
	if !copies() {
		return appendTurnedValues(dst, raw)
	}
	from, n := len(dst), len(raw)/Size
	dst = slices.Grow(dst, n)[:from+n]
	copy(memoryOf(dst[from:]), raw)
	return dst
}

// copies reports whether the memory of values has the encoded form.
func copies() bool {
	const one = 1
	return binary.NativeEndian.Uint16([]byte{one, 0}) == one
}

// memoryOf returns the memory of values.
func memoryOf(values []float32) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), Size*len(values)) //nolint:gosec // as many bytes as there are
}

// appendTurned is Append for any byte order.
func appendTurned(dst []byte, values []float32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// appendTurnedValues is AppendValues for any byte order.
func appendTurnedValues(dst []float32, raw []byte) []float32 {
	for ; len(raw) >= Size; raw = raw[Size:] {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return dst
}
