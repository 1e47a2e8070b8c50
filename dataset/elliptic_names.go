package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// readNames returns the names of the features, or nil if the directory has no file of names.
func readNames(fsys fs.FS, features int) ([]string, error) {
	content, err := fs.ReadFile(fsys, FeatureNamesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.ReplaceAll(string(content), "\r\n", "\n")
	names := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	if len(names) != features {
		return nil, &RowError{File: FeatureNamesFile, Reason: fmt.Sprintf("%d lines, want one for each of %d features",
			len(names), features)}
	}
	return names, nil
}

// WriteNames writes a line for each feature's name.
func WriteNames(w io.Writer, s *Stream) error {
	for _, name := range s.FeatureNames {
		if _, err := io.WriteString(w, name+"\n"); err != nil {
			return err
		}
	}
	return nil
}
