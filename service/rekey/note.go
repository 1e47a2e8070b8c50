package rekey

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lethe"
	"lethe/internal/atomicfile"
	"lethe/service"
)

const noteFormat = "lethe-rotating/1"

// phase is the progress of a rotation.
type phase string

const (
	// preparing: the copied data is incomplete.
	preparing phase = "preparing"
	// building: the copied data is complete, and lethe rebuilds the rest.
	building phase = "building"
	// built: the directory is ready to replace the original.
	built phase = "built"
)

// note records the progress in the new directory.
type note struct {
	Format string `json:"format"`
	// From is the original directory, whose broker's log has the digest Log.
	From  string       `json:"from"`
	Log   lethe.Digest `json:"log"`
	Phase phase        `json:"phase"`
	// Before and After identify the two secrets, see wire.SecretCheck.
	Before string `json:"before"`
	After  string `json:"after"`
}

func notePath(dir string) string { return filepath.Join(dir, service.RotatingName) }

func (n note) write(dir string) error {
	n.Format = noteFormat
	text, err := json.Marshal(n)
	if err == nil {
		err = atomicfile.Write(notePath(dir), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note of the rotation: %w", err)
	}
	return nil
}

// readNote reads the note of a directory; a directory that is not being rebuilt has none.
func readNote(dir string) (n note, found bool, err error) {
	text, err := os.ReadFile(notePath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return n, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err == nil && n.Format != noteFormat {
		err = fmt.Errorf("format %.40q, want %q", n.Format, noteFormat)
	}
	if err != nil {
		return n, false, fmt.Errorf("%s: %w (remove the folder, and begin again)", notePath(dir), err)
	}
	return n, true, nil
}

// logDigest is the digest of the names and sizes of a broker's files. It detects use of the
// directory, because a service writes there at every start.
func logDigest(dir string) (lethe.Digest, error) {
	sum := sha256.New()
	err := filepath.WalkDir(service.BrokerDir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".dat" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(sum, "%s\n%d\n", path, info.Size())
		}
		return err
	})
	return lethe.Digest(sum.Sum(nil)), err
}
