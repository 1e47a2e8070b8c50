package plainnumber_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/plainnumber"
)

var inJSON = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// comparePlain holds a plain number to what strconv says of it.
func comparePlain(t *testing.T, text []byte) bool {
	t.Helper()
	v, end, ok := plainnumber.Float32(text, 0)
	if !ok {
		return false
	}
	// One of JSON, as a whole.
	number := inJSON.Find(text)
	require.Len(t, number, end, "%q", text)
	want, err := strconv.ParseFloat(string(number), 32)
	require.NoError(t, err, "%q", text)
	require.Equal(t, math.Float32bits(float32(want)), math.Float32bits(v), "%q", text)
	return true
}

func TestPlainNumbers(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "0.0", "-0.000", "1", "-1", "0.123456", "16777217.5", "33554435", "0.1", "999999999999999",
		"0.0000000000000000000001", "3.4028235", "0.00390625", "-12.5,", "7]", "123456789.125 ",
	} {
		require.True(t, comparePlain(t, []byte(text)), text)
	}
	for _, text := range []string{
		"", "-", ".5", "01", "-01", "1.", "1.,", "1e5", "1.5E2", "1000000000000000", "0.00000000000000000000001", "null",
		"+1", "99999999999999999999999999999999",
		"16777217", // between two of float32
	} {
		require.False(t, comparePlain(t, []byte(text)), text)
	}
}

func FuzzPlainNumber(f *testing.F) {
	for _, text := range []string{"0.123456", "-16777217.00000001", "1e4", "0.1,0.2", "8388608.5", "00.5"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { comparePlain(t, text) })
}

// Every shortest text of a float32 of the sizes that occur is read as it was.
func TestShortestTextsOfFloat32(t *testing.T) {
	bits := uint32(1)
	plain := 0
	for range 200_000 {
		bits = bits*1664525 + 1013904223
		v := math.Float32frombits(bits&0x83ffffff | 0x3c000000)
		if comparePlain(t, strconv.AppendFloat(nil, float64(v), 'f', -1, 32)) {
			plain++
		}
	}
	require.Greater(t, plain, 190_000)
}
