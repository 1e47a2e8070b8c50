package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// The three files of an Elliptic-style directory, under their published names.
const (
	FeaturesFile = "elliptic_txs_features.csv"
	EdgesFile    = "elliptic_txs_edgelist.csv"
	ClassesFile  = "elliptic_txs_classes.csv"
)

// FeatureNamesFile is an optional fourth file: the name of each feature on its own line.
const FeatureNamesFile = "feature_names.txt"

// maxRowBytes bounds one row: Elliptic's have about 3,400 bytes.
const maxRowBytes = 1 << 20

// table reads one CSV file row by row. It splits fields itself: encoding/csv allocates a string for
// every field, which for the 34 million values of Elliptic costs more than parsing them.
type table struct {
	name string
	file fs.File
	in   *bufio.Reader
	// anyEnd accepts a last row without a line end.
	anyEnd bool
	row    int
	// fields are the current row's. They alias the buffer: the next call of next overwrites them.
	fields [][]byte
}

// openTable opens a file of the directory and skips a byte order mark. It rejects UTF-16.
func openTable(fsys fs.FS, name string, anyEnd bool) (*table, error) {
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing; put %s, %s and %s into one folder",
			ErrNotDataset, name, FeaturesFile, EdgesFile, ClassesFile)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrNotDataset, name) // a pipe would be waited for
	}
	var file fs.File
	if err == nil {
		file, err = fsys.Open(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &table{name: name, file: file, in: bufio.NewReaderSize(file, maxRowBytes), anyEnd: anyEnd}
	if mark, err := t.in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = t.in.Discard(len(mark))
	}
	if mark, err := t.in.Peek(2); err == nil && (string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff") {
		t.close()
		return nil, t.refuse(0, "the file is UTF-16: save it as UTF-8")
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
		return t.unquote(line)
	}
	t.split(line)
	return true, nil
}

// unquote splits a line with quoted fields (RFC 4180) into t.fields.
func (t *table) unquote(line []byte) (bool, error) {
	reader := csv.NewReader(bytes.NewReader(line))
	fields, err := reader.Read()
	if err != nil {
		return false, t.refuse(0, "a quote has no other one, or stands within a field that is not quoted")
	}
	t.fields = t.fields[:0]
	for _, field := range fields {
		t.fields = append(t.fields, []byte(field))
	}
	return true, nil
}

// rowsPerLook is the number of rows between two checks of the context.
const rowsPerLook = 4096

// each calls fn for every remaining row, until fn fails or ctx is done.
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

// split splits a line into t.fields.
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

// header reads row 1 and checks that it is the expected header. isID reports whether a field is an id of the data
// set.
func (t *table) header(isID func(field []byte) bool) error {
	ok, err := t.next()
	if err != nil {
		return err
	}
	if !ok {
		return t.refuse(0, "the file is empty, want a header")
	}
	want := headers()[t.name]
	if t.isHeader(want) {
		return nil
	}
	line := strings.Join(want, ",")
	switch {
	case slices.ContainsFunc(t.fields, isID):
		return t.refuse(0, "the row is data: write the header "+line+" above it")
	case len(t.fields) != len(want):
		return t.wrongColumns("the header " + line)
	}
	for i, name := range want {
		if field := string(bytes.TrimSpace(t.fields[i])); field != name && strings.EqualFold(field, name) || field == name &&
			field != string(t.fields[i]) {
			return t.refuse(i+1, "the name is spelt otherwise: want "+name)
		}
	}
	if reason := t.ofAnotherFile(); reason != "" {
		return t.refuse(0, reason)
	}
	return t.refuse(0, "the header is not "+line+": another file under this name, or columns in another order")
}

// headers are the first rows of the files that have one.
func headers() map[string][]string {
	return map[string][]string{EdgesFile: {"txId1", "txId2"}, ClassesFile: {"txId", "class"}}
}

func (t *table) isHeader(of []string) bool {
	return string(bytes.Join(t.fields, []byte{','})) == strings.Join(of, ",")
}

// ofAnotherFile reports that the current row is the header of another file, or returns an empty
// text.
func (t *table) ofAnotherFile() string {
	for name, header := range headers() {
		if name != t.name && t.isHeader(header) {
			return "this is the header of " + name
		}
	}
	return ""
}

const separated = "columns are separated by semicolons or tabs: want commas"

// wrongColumns returns the error of the current row for the number of its columns.
func (t *table) wrongColumns(want string) error {
	reason := fmt.Sprintf("%d columns, want %s", len(t.fields), want)
	if other := t.ofAnotherFile(); other != "" {
		return t.refuse(0, other)
	}
	if len(t.fields) == 1 && bytes.ContainsAny(t.fields[0], ";\t") {
		reason = separated
	}
	if len(t.fields) > 1 && len(t.fields[len(t.fields)-1]) == 0 {
		reason += "; the row ends in a comma"
	}
	return t.refuse(0, reason)
}

// refuse returns the error for the current row.
func (t *table) refuse(column int, reason string) error {
	return &RowError{File: t.name, Row: t.row, Column: column, Reason: reason}
}
