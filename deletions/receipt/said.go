package receipt

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"

	"lethe/internal/jws"
)

// extension is that of files with receipts.
const extension = ".json"

// Said returns what a signed receipt says as plain text, or nothing for another document: a
// search of the document's bytes would not find what stands there in base64.
func Said(data []byte) []byte {
	d, err := Decode(data)
	if err != nil {
		return nil
	}
	out, _ := jws.Decode(d.Payload)
	for _, s := range d.Signatures {
		header, _ := jws.Decode(s.Protected)
		out = append(append(out, '\n'), header...)
	}
	return out
}

// Readable returns a file system for searches: every receipt in it has what it says behind
// its bytes.
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
	return readFile{f, bytes.NewReader(slices.Concat(data, []byte("\n"), Said(data)))}, nil
}

// readFile is a file that is read from memory.
type readFile struct {
	fs.File
	content io.Reader
}

// Read implements fs.File.
func (f readFile) Read(p []byte) (int, error) { return f.content.Read(p) }
