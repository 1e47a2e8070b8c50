// Package floatbytes writes and reads rows of features as bytes: of each value the bits of IEEE 754, in four bytes,
// little-endian. All formats of lethe keep rows like this, so that one search of the disk finds a row in any of them.
//
// Four values are moved at a time: then the compiler checks bounds once for four.
package floatbytes

import (
	"encoding/binary"
	"math"
	"slices"
)

// Size is how many bytes a value takes.
const Size = 4

// together is how many values are moved at a time.
const together = 4

// Append appends the bytes of values.
func Append(dst []byte, values []float32) []byte {
	from, need := len(dst), Size*len(values)
	dst = slices.Grow(dst, need)[:from+need]
	into := dst[from:]
	for len(values) >= together && len(into) >= Size*together {
		v, b := (*[together]float32)(values), (*[Size * together]byte)(into)
		binary.LittleEndian.PutUint32(b[0:], math.Float32bits(v[0]))
		binary.LittleEndian.PutUint32(b[Size:], math.Float32bits(v[1]))
		binary.LittleEndian.PutUint32(b[2*Size:], math.Float32bits(v[2]))
		binary.LittleEndian.PutUint32(b[3*Size:], math.Float32bits(v[3]))
		values, into = values[together:], into[Size*together:]
	}
	for i, v := range values {
		binary.LittleEndian.PutUint32(into[Size*i:], math.Float32bits(v))
	}
	return dst
}

// AppendValues appends the values that bytes stand for. Fewer than Size at their end stand for none.
func AppendValues(dst []float32, raw []byte) []float32 {
	from, n := len(dst), len(raw)/Size
	dst = slices.Grow(dst, n)[:from+n]
	into := dst[from:]
	for len(into) >= together && len(raw) >= Size*together {
		v, b := (*[together]float32)(into), (*[Size * together]byte)(raw)
		v[0] = math.Float32frombits(binary.LittleEndian.Uint32(b[0:]))
		v[1] = math.Float32frombits(binary.LittleEndian.Uint32(b[Size:]))
		v[2] = math.Float32frombits(binary.LittleEndian.Uint32(b[2*Size:]))
		v[3] = math.Float32frombits(binary.LittleEndian.Uint32(b[3*Size:]))
		into, raw = into[together:], raw[Size*together:]
	}
	for i := range into {
		into[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[Size*i:]))
	}
	return dst
}
