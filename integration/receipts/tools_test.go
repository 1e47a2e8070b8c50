package receipts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const found = "ok"

// checker tells what other programs find of a receipt under a public key, by the program.
type checker func(t *testing.T, receipt, publicKey string) map[string]string

// missing skips a test that cannot run, or fails it where it must.
func missing(t *testing.T, what string, out []byte) {
	t.Helper()
	if os.Getenv("INTEROP") == "required" {
		t.Fatalf("%s\n%s", what, out)
	}
	t.Skipf("%s (make interop installs it): %s", what, strings.TrimSpace(string(out)))
}

// tool is the path of a program.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is not there", nil)
	}
	return path
}

// some wants at least one of the programs.
func some(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			return
		}
	}
	missing(t, "none is there of "+strings.Join(names, ", "), nil)
}

// copied copies files of testdata into a folder.
func copied(t *testing.T, folder string, names ...string) {
	t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
}

// run runs a program in a folder.
func run(folder, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

// checks returns the checker that a command prints what it found.
func checks(folder, program, script string) checker {
	return func(t *testing.T, receipt, publicKey string) map[string]string {
		t.Helper()
		out, err := run(folder, program, script, receipt, publicKey)
		require.NoError(t, err, "%s", out)
		var said map[string]string
		require.NoError(t, json.Unmarshal(out, &said), "%s", out)
		return said
	}
}

// python installs the libraries into a virtual environment of its own.
func python(t *testing.T) checker {
	folder := t.TempDir()
	copied(t, folder, "requirements.txt", "check.py")
	if out, err := run(folder, tool(t, "python3"), "-m", "venv", "venv"); err != nil {
		missing(t, "python3 makes no virtual environment", out)
	}
	interpreter := filepath.Join(folder, "venv", "bin", "python")
	if out, err := run(folder, interpreter, "-m", "pip", "install", "-q", "--disable-pip-version-check",
		"-r", "requirements.txt"); err != nil {
		missing(t, "pip does not get the libraries", out)
	}
	return checks(folder, interpreter, "check.py")
}

// node installs jose.
func node(t *testing.T) checker {
	folder := t.TempDir()
	copied(t, folder, "package.json", "check.mjs")
	program := tool(t, "node")
	if out, err := run(folder, tool(t, "npm"), "install", "--silent", "--no-fund", "--no-audit"); err != nil {
		missing(t, "npm does not get jose", out)
	}
	return checks(folder, program, "check.mjs")
}
