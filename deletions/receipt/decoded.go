package receipt

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"path"
	"slices"

	"lethe/deletions/scan"
)

const extension = ".json"

// Decoded returns the base64 content of a receipt, for searches: its payload and the headers of its signatures. A
// search may meet any bytes, also broken documents, so it decodes every member that can be decoded.
func Decoded(data []byte) (out []byte) {
	var digits []byte
	decode := func() {
		if len(digits)%4 == 1 { // the last digit is a part of a byte
			digits = digits[:len(digits)-1]
		}
		out, _ = base64.RawURLEncoding.AppendDecode(append(out, '\n'), digits) // digits alone
		digits = digits[:0]
	}
	for _, c := range scan.Unescape(data) {
		switch {
		case c == '\r' || c == '\n':
		case c == '+':
			digits = append(digits, '-')
		case c == '/':
			digits = append(digits, '_')
		case '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '-' || c == '_':
			digits = append(digits, c)
		case len(digits) > 0:
			decode()
		}
	}
	decode()
	return out
}

// Readable is a file system whose receipts have their decoded content behind their bytes.
func Readable(files fs.FS) fs.FS { return readable{files} }

type readable struct{ fs.FS }

// Open implements fs.FS.
func (r readable) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || path.Ext(name) != extension {
		return f, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return readFile{f, bytes.NewReader(slices.Concat(data, []byte("\n"), Decoded(data)))}, nil
}

// readFile is a file with its content in memory.
type readFile struct {
	fs.File
	content io.Reader
}

// Read implements fs.File.
func (f readFile) Read(p []byte) (int, error) { return f.content.Read(p) }
