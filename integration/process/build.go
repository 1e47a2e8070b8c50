package process

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
)

// Build compiles the command lethe and returns the binary's path.
func Build(t testing.TB) string {
	t.Helper()
	return BuildCommand(t, "lethe")
}

// BuildCommand compiles lethe or lethe-lab and returns the binary's path, in a folder of the test.
// Linking takes seconds, so the binary is kept in the user's cache folder, one for each checkout: the go command
// leaves one that is up to date as it is.
func BuildCommand(t testing.TB, name string) string {
	t.Helper()
	root := nameSources(t)
	kept := keptBinary(t, root, name)
	defer locked(t, kept+".lock")()
	command := "lethe/cmd/" + name
	if name == "lethe-lab" {
		command = "lethe/lab/cmd/" + name // of the other module
	}
	// Without tables for debuggers linking takes a third less.
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", kept, command).CombinedOutput()
	require.NoError(t, err, "go build: %s", out)
	bin := filepath.Join(t.TempDir(), name)
	if os.Link(kept, bin) == nil {
		return bin
	}
	// Another program copies it: what this one writes cannot be started while a child that it starts meanwhile has it
	// open as well.
	out, err = exec.Command("cp", kept, bin).CombinedOutput()
	require.NoError(t, err, "cp: %s", out)
	return bin
}

// keptBinary is where the binary of a command is kept for a checkout.
func keptBinary(t testing.TB, root, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	sum := sha256.Sum256([]byte(root))
	folder := filepath.Join(cache, "lethe-tests", hex.EncodeToString(sum[:6]))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	return filepath.Join(folder, name)
}

// locked keeps tests of other packages from building at the same time, until the function that it returns is called.
func locked(t testing.TB, path string) (unlock func()) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	return func() { require.NoError(t, file.Close()) }
}

// nameSources looks at every source file. The go command gives the result of an earlier
// run of a test again while the files that the test looked at are as they were, and does
// not see those that the compiler reads. It returns the folder of the checkout.
func nameSources(t testing.TB) (root string) {
	t.Helper()
	root = realdata.Repository(t)
	sources := []string{".go", ".s", ".mod", ".csv", ".md", ".html", ".js", ".css", ".svg", ".json"}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case slices.Contains(sources, filepath.Ext(path)):
			_, err = os.Stat(path)
		}
		return err
	}))
	return root
}
