// Package secretfile reads files that hold one secret, such as a password, a token or a private key. World-readable
// files are rejected.
package secretfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// maxBytes bounds the size of a secret's file.
const maxBytes = 64 << 10

// Read reads a file that must not be world-readable. The group may read it: orchestrators pass
// secrets to a process by its group. The error describes how to fix the file's mode.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case info.Mode().Perm()&0o007 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("%s: mode %04o lets everybody read it, want 0640 or less: run `chmod o= %s`",
			path, info.Mode().Perm(), path)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s: %d bytes, want at most %d", path, info.Size(), maxBytes)
	}
	return io.ReadAll(io.LimitReader(f, maxBytes))
}

// ReadLine reads a secret of one line, without the line ending, from a file that must not be world-readable.
func ReadLine(path string) (string, error) {
	content, err := Read(path)
	if err != nil {
		return "", err
	}
	line := string(bytes.TrimRight(content, "\r\n"))
	switch {
	case line == "":
		return "", fmt.Errorf("%s: %w", path, errEmpty)
	case bytes.ContainsAny(content[:len(line)], "\r\n\x00\x01"):
		return "", fmt.Errorf("%s: %w", path, errLines)
	}
	return line, nil
}

var (
	errEmpty = errors.New("it is empty")
	errLines = errors.New("it holds more than one line of text")
)
