package faults_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/internal/residue"
)

// Somebody, as a backup does, holds every file open that there is when an erasure
// begins. An unlinked file is found by no search of folders and would stay on disk with
// all it holds: it is emptied.
func filesHeldOpen(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-4").Code)
	d.learnt(steps)
	id := d.node(0, 0)
	secret, err := configs.LoadOrCreateSecret(filepath.Join(d.dir, "keys", "secret"), rand.Reader)
	require.NoError(t, err)
	forms, err := residue.Of(secret, d.stream, lethe.TransactionID(id))
	require.NoError(t, err)
	held := hold(t, d.dir)
	require.NotEmpty(t, search(t, forms, held))
	d.verified(d.erase("r1", id))
	require.Empty(t, search(t, forms, held))
	d.audit()
}

// hold opens every file below a folder but those that the program deletes
// between their listing and their opening.
func hold(t *testing.T, dir string) (held []*os.File) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var file *os.File
			if file, err = os.Open(path); err == nil {
				held = append(held, file)
				t.Cleanup(func() { file.Close() })
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}))
	return held
}

// search looks into what the holder reads now.
func search(t *testing.T, forms []residue.Form, held []*os.File) []residue.Hit {
	t.Helper()
	dir := t.TempDir()
	for i, file := range held {
		_, err := file.Seek(0, io.SeekStart)
		require.NoError(t, err)
		content, err := io.ReadAll(file)
		require.NoError(t, err)
		name := fmt.Sprintf("%03d-%s", i, filepath.Base(file.Name()))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	report, err := residue.Search(forms, dir)
	require.NoError(t, err)
	return report.Hits
}
