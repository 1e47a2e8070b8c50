package secretfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesOfSecretsAreOneLineForFew(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"for all": {"s3cr3t", 0o604, "mode 0604 lets everybody read it"},
		"empty":   {"\n", 0o600, "it is empty"},
		"lines":   {"s3cr3t\ns3cr3t", 0o600, "more than one line"},
		"large":   {string(make([]byte, maxBytes+1)), 0o600, "65537 bytes, want at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(path, []byte(c.content), c.mode))
			require.NoError(t, os.Chmod(path, c.mode))
			_, err := ReadLine(path)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), "s3cr3t")
		})
	}
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("s3cr3t\r\n"), 0o640))
	line, err := ReadLine(path)
	require.NoError(t, err)
	require.Equal(t, "s3cr3t", line)
}
