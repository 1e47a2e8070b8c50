package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLarge is returned for a file that exceeds the limit of Read.
var ErrTooLarge = errors.New("file is too large")

// Read reads a whole file of at most so many bytes. It is for untrusted files, which may be of
// any size or endless.
func Read(path string, most int64) (content []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, path, most)
	if info.Size() > most {
		return nil, tooLarge
	}
	if content, err = io.ReadAll(io.LimitReader(file, most+1)); err == nil && int64(len(content)) > most {
		return nil, tooLarge
	}
	return content, err
}
