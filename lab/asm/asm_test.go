package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is committed is what the descriptions give, for the structs as they are.
func TestGeneratedAssemblyIsCurrent(t *testing.T) {
	const folder = "../../trainer"
	files, err := generate(folder)
	require.NoError(t, err)
	for name, text := range files {
		committed, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, string(text), string(committed), "%s: run go generate ./trainer/kernels", name)
	}
	all, err := filepath.Glob(filepath.Join(folder, "*", "*.s"))
	require.NoError(t, err)
	more, err := filepath.Glob("../networks/*/*.s")
	require.NoError(t, err)
	require.Len(t, append(all, more...), len(files), "assembly that nothing describes")
}
