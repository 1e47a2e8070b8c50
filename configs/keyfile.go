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

// ErrKeyFile marks a key file that cannot or must not be used. The operator has to fix it as the
// error describes; starting with another key would make everything that depends on this one
// unusable.
var ErrKeyFile = errors.New("key file")

// maxKeyFileBytes is far above the size of any key file.
const maxKeyFileBytes = 16 << 10

// readPrivate reads a file that only its owner may read. The error is fs.ErrNotExist if it does not
// exist.
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
	// Windows has no such bits and reports every file as readable by all. Orchestrators provide keys as
	// files that are read-only and readable by the group.
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

// readOrCreate reads the file at path, or writes the result of create if there is none. If two processes start
// together, the second reads the file of the first; a killed process leaves the complete file or none.
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
