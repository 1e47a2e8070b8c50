// Package statefile persists state that must survive a restart as one JSON document in a file, with the name of its
// format. The file is written atomically, and only when its content changes.
package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lethe/internal/atomicfile"
)

// mode makes the files readable only for their owner.
const mode = 0o600

// File is a document on disk. One goroutine uses it at a time.
type File struct {
	path, format string
	// written is the content last written by this process.
	written []byte
}

// At returns the file at a path, of a format such as lethe-webhooks/1.
func At(path, format string) *File { return &File{path: path, format: format} }

// Read decodes the document into a value; its JSON has the format under "format". found is false if there is no
// file. A file of another format is an error, which names the path.
func (f *File) Read(into any) (found bool, err error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var head struct {
		Format string `json:"format"`
	}
	if err == nil {
		err = json.Unmarshal(text, &head)
	}
	if err == nil && head.Format != f.format {
		err = fmt.Errorf("format %.40q, want %q", head.Format, f.format)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", f.path, err)
	}
	return true, nil
}

// Write replaces the document, unless this process wrote the same content last.
func (f *File) Write(what any) error {
	text, err := json.MarshalIndent(what, "", " ")
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if text = append(text, '\n'); bytes.Equal(text, f.written) {
		return nil
	}
	if err := atomicfile.Write(f.path, text, mode); err != nil {
		return err
	}
	f.written = text
	return nil
}
