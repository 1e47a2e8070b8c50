package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// The three files of an Elliptic-style folder, under their published names.
const (
	FeaturesFile = "elliptic_txs_features.csv"
	EdgesFile    = "elliptic_txs_edgelist.csv"
	ClassesFile  = "elliptic_txs_classes.csv"
)

// FeatureNamesFile may stand beside the three files: the name of each feature on a line of its own.
const FeatureNamesFile = "feature_names.txt"

// maxRowBytes bounds one row: Elliptic's have about 3,400 bytes.
const maxRowBytes = 1 << 20

// table reads one CSV file row by row. It splits by hand: encoding/csv makes a
// string of every field, which for the 34 million values of Elliptic costs more
// than parsing them.
type table struct {
	name string
	file fs.File
	in   *bufio.Reader
	// anyEnd takes a last row that has no line end.
	anyEnd bool
	row    int
	// fields are the current row's. They alias the buffer: the next call of
	// next overwrites them.
	fields [][]byte
}

// openTable opens a file of the folder and skips a byte order mark.
func openTable(fsys fs.FS, name string, anyEnd bool) (*table, error) {
	file, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing; put %s, %s and %s into one folder",
			ErrNotDataset, name, FeaturesFile, EdgesFile, ClassesFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &table{name: name, file: file, in: bufio.NewReaderSize(file, maxRowBytes), anyEnd: anyEnd}
	if mark, err := t.in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = t.in.Discard(len(mark))
	}
	return t, nil
}

// close closes the file. Nothing was written, so an error has no consequence.
func (t *table) close() { _ = t.file.Close() }

// next reads a row into t.fields and reports whether there was one.
func (t *table) next() (bool, error) {
	line, err := t.in.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return false, nil
	case errors.Is(err, io.EOF):
		t.row++
		if !t.anyEnd {
			return false, t.refuse(0, "the last row has no line end: the file was cut short (if it is whole, append a line end)")
		}
	case errors.Is(err, bufio.ErrBufferFull):
		t.row++
		return false, t.refuse(0, fmt.Sprintf("the row is longer than %d bytes", maxRowBytes))
	case err != nil:
		return false, fmt.Errorf("%s: after row %d: %w", t.name, t.row, err)
	default:
		t.row++
		line = line[:len(line)-1]
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) == 0 {
		return false, t.refuse(0, "the row is empty")
	}
	if bytes.IndexByte(line, '"') >= 0 {
		return false, t.refuse(0, "the row holds a quote; fields are written without")
	}
	t.split(line)
	return true, nil
}

// rowsPerLook is how many rows pass between two looks at the context.
const rowsPerLook = 4096

// each calls fn for every row that is left, until one is refused or ctx is done.
func (t *table) each(ctx context.Context, fn func() error) error {
	for {
		ok, err := t.next()
		if err != nil || !ok {
			return err
		}
		if err := fn(); err != nil {
			return err
		}
		if t.row%rowsPerLook != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: stopped after row %d: %w", t.name, t.row, err)
		}
	}
}

// split cuts a line into t.fields.
func (t *table) split(line []byte) {
	t.fields = t.fields[:0]
	for {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			t.fields = append(t.fields, line)
			return
		}
		t.fields = append(t.fields, line[:i])
		line = line[i+1:]
	}
}

// header reads row 1 and checks that it is the wanted one.
func (t *table) header(want ...string) error {
	ok, err := t.next()
	if err != nil {
		return err
	}
	if !ok {
		return t.refuse(0, "the file is empty, want a header")
	}
	if string(bytes.Join(t.fields, []byte{','})) == strings.Join(want, ",") {
		return nil
	}
	return t.refuse(0, "the header is not "+strings.Join(want, ",")+
		": another file under this name, or columns in another order")
}

// refuse returns the error for the current row.
func (t *table) refuse(column int, reason string) error {
	return &RowError{File: t.name, Row: t.row, Column: column, Reason: reason}
}
