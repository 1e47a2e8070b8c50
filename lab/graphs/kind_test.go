package graphs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/lab/graphs"
)

func TestDetect(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		return path
	}
	_, err := graphs.Detect(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, dataset.ErrNotDataset)
	_, err = graphs.Detect(write("data.parquet"))
	require.ErrorIs(t, err, dataset.ErrNotDataset)
	require.ErrorContains(t, err, dataset.FeaturesFile)
	kind, err := graphs.Detect(write("Cora.NPZ"))
	require.NoError(t, err)
	require.Equal(t, graphs.CitationArchive, kind)
	require.Equal(t, "citation", kind.String())

	write(dataset.FeaturesFile)
	_, err = graphs.Detect(dir)
	require.ErrorIs(t, err, dataset.ErrNotDataset)
	require.ErrorContains(t, err, "lacks "+dataset.EdgesFile+", "+dataset.ClassesFile)
	write(dataset.EdgesFile)
	require.NoError(t, os.Mkdir(filepath.Join(dir, dataset.ClassesFile), 0o700))
	_, err = graphs.Detect(dir)
	require.ErrorContains(t, err, "lacks "+dataset.ClassesFile, "a folder is not the file")
	require.NoError(t, os.Remove(filepath.Join(dir, dataset.ClassesFile)))
	write(dataset.ClassesFile)
	kind, err = graphs.Detect(dir)
	require.NoError(t, err)
	require.Equal(t, graphs.Elliptic, kind)
	require.Equal(t, "elliptic", kind.String())
}
