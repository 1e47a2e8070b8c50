package graphs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lethe/dataset"
)

// Kind is a format of a data set.
type Kind uint8

// The formats.
const (
	// Elliptic is a folder with the three CSV files: use dataset.LoadElliptic.
	Elliptic Kind = iota + 1
	// CitationArchive is an npz file: use citation.Load.
	CitationArchive
)

// String returns the format's name.
func (k Kind) String() string {
	switch k {
	case Elliptic:
		return "elliptic"
	case CitationArchive:
		return "citation"
	default:
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
}

// Detect tells which format lies under a path, by what is there and not by what
// it holds. The error says what a data set has to look like; it is
// dataset.ErrNotDataset unless the path cannot be read.
func Detect(path string) (Kind, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("dataset %s: %w: nothing is there (name a folder with Elliptic's CSV files or an .npz file)",
			path, dataset.ErrNotDataset)
	}
	if err != nil {
		return 0, fmt.Errorf("dataset %s: %w", path, err)
	}
	if !info.IsDir() {
		if strings.EqualFold(filepath.Ext(path), ".npz") {
			return CitationArchive, nil
		}
		return 0, fmt.Errorf("dataset %s: %w: want a folder with %s, %s and %s, or a file that ends in .npz",
			path, dataset.ErrNotDataset, dataset.FeaturesFile, dataset.EdgesFile, dataset.ClassesFile)
	}
	var missing []string
	for _, name := range []string{dataset.FeaturesFile, dataset.EdgesFile, dataset.ClassesFile} {
		if inner, err := os.Stat(filepath.Join(path, name)); err != nil || inner.IsDir() {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return 0, fmt.Errorf("dataset %s: %w: the folder lacks %s", path, dataset.ErrNotDataset, strings.Join(missing, ", "))
	}
	return Elliptic, nil
}
