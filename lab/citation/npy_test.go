package citation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func npy(version byte, header string, data string) []byte {
	size := string([]byte{byte(len(header)), byte(len(header) >> 8)})
	if version > 1 {
		size += "\x00\x00"
	}
	return []byte("\x93NUMPY" + string([]byte{version, 0}) + size + header + data)
}

func TestArrayHeaders(t *testing.T) {
	const plain = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n"
	for _, version := range []byte{1, 2, 3} {
		a, err := parseArray("a", npy(version, plain, "\x01\x00\xfe\xff"))
		require.NoError(t, err)
		require.Equal(t, []float64{1, -2}, a.values)
	}
	for want, content := range map[string][]byte{
		"no NumPy array":          []byte("\x93NUMPX\x01\x00\x00\x00"),
		"NumPy format version 4":  npy(4, plain, "\x01\x00\xfe\xff"),
		"header is cut short":     npy(1, plain, "")[:30],
		"does not match 'descr'":  npy(1, "{'fortran_order': False, 'shape': (2,)}", ""),
		"does not match 'fortran": npy(1, "{'descr': '<i2', 'shape': (2,)}", ""),
		"does not match 'shape'":  npy(1, "{'descr': '<i2', 'fortran_order': False}", ""),
		"Fortran order":           npy(1, strings.Replace(plain, "False", "True", 1), "\x01\x00\xfe\xff"),
		"type \">i2\"":            npy(1, strings.Replace(plain, "<i2", ">i2", 1), "\x01\x00\xfe\xff"),
		"type \"|O\"":             npy(1, strings.Replace(plain, "<i2", "|O", 1), "\x01\x00\xfe\xff"),
		"has 3 bytes of data":     npy(1, plain, "\x01\x00\xfe"),
		"has 5 bytes of data":     npy(1, plain, "\x01\x00\xfe\xff\x00"),
		"has 0 dimensions":        npy(1, strings.Replace(plain, "(2,)", "()", 1), "\x01\x00"),
		"has 3 dimensions":        npy(1, strings.Replace(plain, "(2,)", "(1, 2, 1)", 1), "\x01\x00\xfe\xff"),
		"shape is too large":      npy(1, strings.Replace(plain, "(2,)", "(99999999, 99999999)", 1), ""),
	} {
		_, err := parseArray("a", content)
		require.ErrorContains(t, err, want)
	}
}
