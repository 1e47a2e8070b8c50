package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// FreshDataDir checks that the folder of --data-dir is new or empty. Without --data-dir it creates a temporary folder
// and returns its path, otherwise "". who is the command's name for errors.
func (f ConfigFlags) FreshDataDir(pattern, who string) (made string, err error) {
	if f.DataDir == "" {
		return os.MkdirTemp("", pattern)
	}
	entries, err := os.ReadDir(f.DataDir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("--data-dir %s cannot be used: %w (name a new folder)", f.DataDir, err)
	case len(entries) > 0:
		return "", fmt.Errorf("--data-dir %s is not empty: %s starts from nothing (name a new folder)", f.DataDir, who)
	}
	return "", nil
}
