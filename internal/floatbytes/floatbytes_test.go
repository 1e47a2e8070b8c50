package floatbytes_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/floatbytes"
)

// Every number of values, whatever their bits, is written behind what is there as the standard library writes it,
// and read as the same bits, by machines of either order of bytes.
func TestAnyNumberOfValues(t *testing.T) {
	t.Run("this machine", func(t *testing.T) { anyNumber(t, floatbytes.Append, floatbytes.AppendValues) })
	t.Run("turned", func(t *testing.T) {
		appended, values := floatbytes.Turned()
		anyNumber(t, appended, values)
	})
}

func anyNumber(
	t *testing.T, appended func([]byte, []float32) []byte, appendedValues func([]float32, []byte) []float32,
) {
	t.Helper()
	bits := []uint32{0, 1 << 31, 1, 0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc12345, math.MaxUint32}
	for n := range 3*len(bits) + 1 {
		values, raw := make([]float32, n), []byte("before")
		for i := range values {
			b := bits[(i*7+n)%len(bits)]
			values[i] = math.Float32frombits(b)
			raw = binary.LittleEndian.AppendUint32(raw, b)
		}
		for room := range 2 { // grown, or there before
			before := append(make([]byte, 0, room*len(raw)), "before"...)
			require.Equal(t, raw, appended(before, values), "%d values", n)
			for over := range floatbytes.Size {
				encoded := slices.Concat(raw[len("before"):], make([]byte, over))
				got := appendedValues(append(make([]float32, 0, room*(n+1)), 7), encoded)
				require.Equal(t, float32(7), got[0])
				require.Equal(t, bitsOf(values), bitsOf(got[1:]), "%d values and %d bytes", n, over)
			}
		}
	}
}

// What is written is a copy: the values may change.
func TestBytesAreTheirOwn(t *testing.T) {
	values := []float32{1, 2}
	raw := floatbytes.Append(nil, values)
	got := floatbytes.AppendValues(nil, raw)
	values[0], raw[4] = 3, 0xff
	require.Equal(t, []byte{0, 0, 0x80, 0x3f}, raw[:4])
	require.Equal(t, []float32{1, 2}, got)
}

func bitsOf(values []float32) []uint32 {
	out := make([]uint32, len(values))
	for i, v := range values {
		out[i] = math.Float32bits(v)
	}
	return out
}
