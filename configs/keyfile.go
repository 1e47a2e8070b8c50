package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"lethe/internal/atomicfile"
)

// ErrKeyFile marks a key file that must not or cannot be used. The operator
// has to put it right, as the error says; starting with another key would cut
// off everything that was made with this one.
var ErrKeyFile = errors.New("key file")

// maxKeyFileBytes is far above what any key file of ours holds.
const maxKeyFileBytes = 16 << 10

// readPrivate reads a file that only its owner may read. The error is
// fs.ErrNotExist if there is none.
func readPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w %s: not a regular file", ErrKeyFile, path)
	}
	// Windows has no such bits and reports every file as readable by all. A file that nobody may write and the
	// group may read is how an orchestrator hands a key to a process.
	const handed = 0o440
	if mode := info.Mode().Perm(); mode&0o077 != 0 && mode != handed && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%w %s: mode %04o lets others read it, want 0600: run `chmod 600 %s`, "+
			"and change the key if others could have read it",
			ErrKeyFile, path, mode, path)
	}
	if info.Size() > maxKeyFileBytes {
		return nil, fmt.Errorf("%w %s: %d bytes, want at most %d", ErrKeyFile, path, info.Size(), maxKeyFileBytes)
	}
	return io.ReadAll(io.LimitReader(f, maxKeyFileBytes))
}

// readOrCreate reads the file at path, or writes what create returns if there is
// none. Of two processes that start together the second reads what the first
// one wrote, and a process that is killed leaves the whole file or none.
func readOrCreate(path string, create func() ([]byte, error)) ([]byte, error) {
	content, err := readPrivate(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	if content, err = create(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	err = atomicfile.Create(path, content, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readPrivate(path)
	}
	return content, err
}
