// Package statefile keeps what a part of the process has to know after a restart as one JSON document
// in a file, with the name of its format. The file is there whole or not at all, and is written only
// when something in it has changed.
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

// mode is that of the files: nobody else's to read.
const mode = 0o600

// File is a document on disk. One goroutine uses it at a time.
type File struct {
	path, format string
	// written is what is on disk, as far as this process has written it.
	written []byte
}

// At returns the file at a path, of a format such as lethe-webhooks/1.
func At(path, format string) *File { return &File{path: path, format: format} }

// Read reads the document into a value, whose JSON has the format as "format"; found is false if there
// is no file. A file of another format is an error, which names the path.
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

// Write puts a value in the place of the document, unless it is what this process wrote there last.
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
