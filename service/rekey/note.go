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

// phase is how far a rotation is.
type phase string

const (
	// preparing: what is in the new directory is not whole.
	preparing phase = "preparing"
	// building: it is, and lethe makes the rest in it.
	building phase = "building"
	// built: it is to be put in the place of the one before.
	built phase = "built"
)

// note says in the new directory how far it is.
type note struct {
	Format string `json:"format"`
	// From is the directory before, whose broker's log has the digest Log.
	From  string       `json:"from"`
	Log   lethe.Digest `json:"log"`
	Phase phase        `json:"phase"`
	// Before and After tell the secrets apart, see wire.SecretCheck.
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

// readNote reads the note of a directory; there is none if it is not being made.
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

// logDigest is the digest of the names and sizes of a broker's files. A service that runs on a
// directory writes there at every start.
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
