package dataset

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A pipe is not opened: its writer would be waited for.
func TestOpenTable_NoRegularFile_IsRefused(t *testing.T) {
	_, err := openTable(fstest.MapFS{FeaturesFile: {Mode: fs.ModeNamedPipe}}, FeaturesFile, false)
	require.ErrorIs(t, err, ErrNotDataset)
	require.ErrorContains(t, err, FeaturesFile+" is no regular file")
}
