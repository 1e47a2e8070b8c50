package dataset_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"lethe/dataset"
)

// A folder is either refused or a stream of which every payment joins two of its
// transactions.
func FuzzReadElliptic(f *testing.F) {
	seed := tidy()
	f.Add(seed[dataset.FeaturesFile], seed[dataset.EdgesFile], seed[dataset.ClassesFile])
	f.Fuzz(func(t *testing.T, features, edges, classes string) {
		var fsys fs.FS = fstest.MapFS{
			dataset.FeaturesFile: {Data: []byte(features)}, dataset.EdgesFile: {Data: []byte(edges)},
			dataset.ClassesFile: {Data: []byte(classes)},
		}
		s, err := dataset.ReadElliptic(t.Context(), fsys, dataset.EllipticOptions{})
		if err != nil {
			return
		}
		if err := validate(s); err != nil {
			t.Fatal(err)
		}
	})
}
