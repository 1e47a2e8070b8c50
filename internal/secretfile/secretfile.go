// Package secretfile reads files that hold one secret, such as a password, a token or a private key. Those that
// everybody can read are refused.
package secretfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// maxBytes bounds what a file of a secret may hold.
const maxBytes = 64 << 10

// Read reads a file that not everybody may read. The group may: orchestrators hand
// secrets to a process by its group. The error says what to do about the file's mode.
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

// ReadLine reads a secret of one line, without what ends the line, from a file that not everybody can read.
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
