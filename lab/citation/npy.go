package citation

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxArrayBytes bounds one array: DBLP's features have 4 MB, CS's dense 500 MB.
const maxArrayBytes = 1 << 30

// array is a NumPy array of numbers as float64, which holds every int32 and
// float32 and all counts and positions that fit into memory.
type array struct {
	name string
	// shape has one or two dimensions.
	shape  []int
	values []float64
	// whole is true for integer types.
	whole bool
}

// readArray reads one member of an npz archive. The NumPy format versions 1 to
// 3 in C order with little-endian numbers are taken; see the NEP 1 proposal.
//
// Parsing is our own because npyio ignores short reads: on a compressed or cut
// archive it returns numbers that are not in the file.
func readArray(member *zip.File) (*array, error) {
	if member.UncompressedSize64 > maxArrayBytes {
		return nil, fmt.Errorf("%d bytes, want at most %d", member.UncompressedSize64, maxArrayBytes)
	}
	in, err := member.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	// The limit holds whatever size the archive states.
	content, err := io.ReadAll(io.LimitReader(in, maxArrayBytes))
	if err != nil {
		return nil, err
	}
	return parseArray(strings.TrimSuffix(member.Name, ".npy"), content)
}

func parseArray(name string, content []byte) (*array, error) {
	header, data, err := splitHeader(content)
	if err != nil {
		return nil, err
	}
	kind, err := headerField(header, `'descr':\s*'([^']*)'`)
	if err != nil {
		return nil, err
	}
	if order, err := headerField(header, `'fortran_order':\s*(True|False)`); err != nil {
		return nil, err
	} else if order == "True" {
		return nil, errors.New("is in Fortran order, want C order")
	}
	dims, err := headerField(header, `'shape':\s*\(([0-9, ]*)\)`)
	if err != nil {
		return nil, err
	}
	a := &array{name: name}
	if a.shape, err = parseShape(dims); err != nil {
		return nil, err
	}
	return a, a.decode(kind, data)
}

// splitHeader separates the header's dictionary from the data.
func splitHeader(content []byte) (header string, data []byte, err error) {
	const magic = "\x93NUMPY"
	if len(content) < len(magic)+4 || string(content[:len(magic)]) != magic {
		return "", nil, errors.New("is no NumPy array")
	}
	var start, size int
	switch version := content[len(magic)]; version {
	case 1:
		start, size = 10, int(binary.LittleEndian.Uint16(content[8:]))
	case 2, 3:
		if len(content) < 12 {
			return "", nil, errors.New("header is cut short")
		}
		start, size = 12, int(binary.LittleEndian.Uint32(content[8:]))
	default:
		return "", nil, fmt.Errorf("has NumPy format version %d, want 1 to 3", version)
	}
	if size > len(content)-start {
		return "", nil, errors.New("header is cut short")
	}
	return string(content[start : start+size]), content[start+size:], nil
}

func headerField(header, pattern string) (string, error) {
	m := regexp.MustCompile(pattern).FindStringSubmatch(header)
	if m == nil {
		return "", fmt.Errorf("header does not match %s", pattern)
	}
	return m[1], nil
}

// parseShape reads "3," or "3, 4". The product stays below maxArrayBytes.
func parseShape(dims string) ([]int, error) {
	var shape []int
	total := 1
	for tok := range strings.SplitSeq(dims, ",") {
		tok = strings.TrimSpace(tok)
		if tok == "" {
			continue
		}
		n, err := strconv.Atoi(tok)
		if err != nil || n > maxArrayBytes || (n > 0 && total > maxArrayBytes/n) {
			return nil, errors.New("shape is too large")
		}
		shape = append(shape, n)
		total *= n
	}
	if len(shape) < 1 || len(shape) > 2 {
		return nil, fmt.Errorf("has %d dimensions, want 1 or 2", len(shape))
	}
	return shape, nil
}

// decode fills values from data, which must hold exactly them.
func (a *array) decode(kind string, data []byte) error {
	var size int
	var read func(b []byte) float64
	le := binary.LittleEndian
	a.whole = true
	switch kind {
	case "|b1", "|u1":
		size, read = 1, func(b []byte) float64 { return float64(b[0]) }
	case "|i1":
		size, read = 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case "<i2":
		size, read = 2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }
	case "<u2":
		size, read = 2, func(b []byte) float64 { return float64(le.Uint16(b)) }
	case "<i4":
		size, read = 4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }
	case "<u4":
		size, read = 4, func(b []byte) float64 { return float64(le.Uint32(b)) }
	case "<i8":
		size, read = 8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }
	case "<u8":
		size, read = 8, func(b []byte) float64 { return float64(le.Uint64(b)) }
	case "<f4":
		a.whole = false
		size, read = 4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	case "<f8":
		a.whole = false
		size, read = 8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	default:
		return fmt.Errorf("has elements of type %q, want little-endian numbers", kind)
	}
	n := 1
	for _, d := range a.shape {
		n *= d
	}
	if len(data) != n*size {
		return fmt.Errorf("has %d bytes of data, its shape wants %d", len(data), n*size)
	}
	a.values = make([]float64, n)
	for i := range a.values {
		a.values[i] = read(data[i*size:])
	}
	return nil
}
