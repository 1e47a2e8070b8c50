package swapstore

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
)

// What Pebble cannot go on with ends the process in a goroutine of its own, so each
// case is a process: this test, started again with the name of the case.
const lastMessageCase = "SWAPSTORE_LAST_MESSAGE"

// A damaged file or a disk that takes no writes ended the process with a trace
// and exit status 2. It ends with 1 and a line that names the folder and the remedy.
func TestLastMessageNamesTheFolderAndTheRemedy(t *testing.T) {
	if name := os.Getenv(lastMessageCase); name != "" {
		endProcess(t, name, os.Getenv("SWAPSTORE_DIR"))
		return
	}
	for name, want := range map[string]string{
		"damaged": `^lethe: the store in \S+ is damaged: \S+\.sst is not what was written \(remove it\)\n$`,
		"full": `^lethe: the store in \S+ cannot be written: no space left on device \(start again once ` +
			`the disk takes writes[^\n]*\)\n$`,
		"read-only": `^lethe: the store in \S+ cannot be written: read-only file system [^\n]*\n$`,
	} {
		t.Run(name, func(t *testing.T) {
			again := exec.Command(os.Args[0], "-test.run=^TestLastMessageNamesTheFolderAndTheRemedy$")
			again.Env = append(os.Environ(), lastMessageCase+"="+name, "SWAPSTORE_DIR="+t.TempDir())
			out, err := again.CombinedOutput()
			var ended *exec.ExitError
			require.ErrorAs(t, err, &ended, "%s", out)
			require.Equal(t, 1, ended.ExitCode(), "%s", out)
			require.Regexp(t, want, string(out))
		})
	}
}

// endProcess brings a store to its end.
func endProcess(t *testing.T, name, dir string) {
	if name == "damaged" {
		fill(t, dir)
		files, err := filepath.Glob(filepath.Join(dir, "g*", "*.sst"))
		require.NoError(t, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			raw[len(raw)/2] ^= 1
			require.NoError(t, os.WriteFile(file, raw, 0o600))
		}
		s, err := Open(marked{Remedied(vfs.Default, "remove it")}, dir, Format{})
		require.NoError(t, err)
		err = s.Scan(nil, func(_, _ []byte) error { return nil })
		fmt.Println("went on", err)
		return
	}
	refusal := map[string]error{"full": syscall.ENOSPC, "read-only": syscall.EROFS}[name]
	broken := false
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return refusal
		}
		return nil
	}))
	s, err := Open(fs, dir, Format{})
	require.NoError(t, err)
	broken = true
	err = s.Apply(func(w Writer) error { w.Set([]byte("k"), []byte("v")); return nil })
	require.NoError(t, errors.Join(err, s.Close()))
}

// fill makes a store with a table.
func fill(t *testing.T, dir string) {
	s, err := Open(vfs.Default, dir, Format{})
	require.NoError(t, err)
	require.NoError(t, s.Rewrite(t.Context(), func(_ Reader, w Writer) error {
		for i := range 1000 {
			w.Set(fmt.Appendf(nil, "key-%04d", i), make([]byte, 100))
		}
		return nil
	}))
	require.NoError(t, s.Close())
}
