package process

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
)

// Build compiles the command lethe and returns the binary's path.
func Build(t testing.TB) string {
	t.Helper()
	return BuildCommand(t, "lethe")
}

// BuildCommand compiles one of the commands of cmd, with further flags for the
// compiler, and returns the binary's path.
func BuildCommand(t testing.TB, name string, flags ...string) string {
	t.Helper()
	nameSources(t)
	bin := filepath.Join(t.TempDir(), name)
	args := append(append([]string{"build"}, flags...), "-o", bin, "lethe/cmd/"+name)
	out, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "go build: %s", out)
	return bin
}

// nameSources looks at every source file. The go command gives the result of an earlier
// run of a test again while the files that the test looked at are as they were, and does
// not see those that the compiler reads.
func nameSources(t testing.TB) {
	t.Helper()
	root := realdata.Repository(t)
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
}
