package dataset_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/scoring/reasons"
)

func generated(t *testing.T, features int) *dataset.Stream {
	t.Helper()
	o := dataset.GenerateDefaults()
	o.Steps, o.NodesPerStep, o.Features = 2, 60, features
	s, err := dataset.Generate(o)
	require.NoError(t, err)
	return s
}

// Reasons take the names that generate writes, and no two features share a name.
func TestGeneratedFeaturesHaveNames(t *testing.T) {
	for _, features := range []int{2, 3, 10, 165, 400} {
		s := generated(t, features)
		require.NoError(t, validate(s))
		require.Len(t, s.FeatureNames, features)
		seen := make(map[string]bool)
		for _, name := range s.FeatureNames {
			require.NotEmpty(t, name)
			require.False(t, seen[name], "%q is the name of two of %d features", name, features)
			seen[name] = true
		}
		var file bytes.Buffer
		require.NoError(t, dataset.WriteNames(&file, s))
		read, err := reasons.ReadNames(&file)
		require.NoError(t, err)
		require.Equal(t, s.FeatureNames, read)
	}
}

func TestNamesOfFeatures_OtherCount_Refused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, dataset.WriteElliptic(dir, generated(t, 5), false))
	s, err := dataset.LoadElliptic(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, s.FeatureNames, 5)
	path := filepath.Join(dir, dataset.FeatureNamesFile)

	require.NoError(t, os.WriteFile(path, []byte(strings.Join(s.FeatureNames, "\r\n")+"\r\n"), 0o600))
	lines, err := dataset.LoadElliptic(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, s.FeatureNames, lines.FeatureNames)

	require.NoError(t, os.WriteFile(path, []byte("amount\nfee\n"), 0o600))
	_, err = dataset.LoadElliptic(t.Context(), dir)
	require.ErrorIs(t, err, dataset.ErrMalformed)
	require.ErrorContains(t, err, "feature_names.txt: 2 lines, want one for each of 5 features")
}

// The names of a stream that another one replaces do not stay.
func TestWriteElliptic_StreamWithoutNames_DeletesOldNames(t *testing.T) {
	dir, s := t.TempDir(), generated(t, 5)
	require.NoError(t, dataset.WriteElliptic(dir, s, false))
	require.FileExists(t, filepath.Join(dir, dataset.FeatureNamesFile))
	s.FeatureNames = nil
	require.NoError(t, dataset.WriteElliptic(dir, s, true))
	require.NoFileExists(t, filepath.Join(dir, dataset.FeatureNamesFile))
}
