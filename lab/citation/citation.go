package citation

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe"
	"lethe/dataset"
)

// Graph is a graph with one label per node, as the paper's Cora, CiteSeer, DBLP
// and CS. It has no time: lethe takes it as one timestep.
type Graph struct {
	Name string
	// Published is Cora, CiteSeer, DBLP or CS if the graph has the nodes, edges,
	// features and classes of the paper's, or "".
	Published string
	NumNodes  int
	// Edges is the simple undirected graph: A < B, ascending, each pair once.
	Edges []lethe.Edge
	// AdjacencyEntries counts the stored entries. The paper's Table of data sets
	// reports these: 10,556 for Cora, which has 5,278 undirected edges.
	AdjacencyEntries int
	// Features has one row per node.
	Features *Sparse
	// Labels has one per node, in 0..Classes-1.
	Labels  []int
	Classes int
}

// Load reads an npz archive: the graph as adj_indptr and adj_indices (CSR;
// adj_data and adj_shape are optional, a stored zero is no edge), the features as
// attr_indptr, attr_indices, attr_data and attr_shape (CSR) or as the dense
// attr_matrix, and labels. The graph is made symmetric and loses its self loops.
//
// A graph with the nodes and features of one of the paper's must have its edges
// and classes too.
//
// Errors: dataset.ErrMalformed if the archive cannot be read as such; the message names
// the array, or the count that is not the published one.
func Load(path string) (*Graph, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	g, err := Read(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", path, err)
	}
	g.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return g, nil
}

// Read reads an archive of sizeBytes bytes, as Load does. The result has no
// name.
func Read(r io.ReaderAt, sizeBytes int64) (*Graph, error) {
	z, err := zip.NewReader(r, sizeBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: not an npz archive: %w", dataset.ErrMalformed, err)
	}
	arrays, err := readArrays(z)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrMalformed, err)
	}
	g := &Graph{}
	if err := errors.Join(g.takeLabels(arrays), g.takeGraph(arrays), g.takeFeatures(arrays)); err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrMalformed, err)
	}
	if err := errors.Join(g.checkClasses(), g.checkPublished()); err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrMalformed, err)
	}
	return g, nil
}

// arrays are the members of an archive by name.
type arrays map[string]*array

func readArrays(z *zip.Reader) (arrays, error) {
	wanted := []string{
		"adj_indptr", "adj_indices", "adj_data", "adj_shape", "labels",
		"attr_indptr", "attr_indices", "attr_data", "attr_shape", "attr_matrix",
	}
	out := make(arrays)
	for _, member := range z.File {
		name := strings.TrimSuffix(member.Name, ".npy")
		if !slices.Contains(wanted, name) {
			continue
		}
		if out[name] != nil {
			return nil, fmt.Errorf("array %s occurs twice", name)
		}
		a, err := readArray(member)
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		out[name] = a
	}
	return out, nil
}

// get returns arrays by name, or an error that names all missing ones.
func (a arrays) get(names ...string) ([]*array, error) {
	var found []*array
	var missing []string
	for _, name := range names {
		if a[name] == nil {
			missing = append(missing, name)
			continue
		}
		found = append(found, a[name])
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the archive lacks %s", strings.Join(missing, ", "))
	}
	return found, nil
}

// takeLabels sets the classes and checks that each node has one.
func (g *Graph) takeLabels(in arrays) error {
	found, err := in.get("labels")
	if err != nil {
		return err
	}
	if g.Labels, err = found[0].ints(); err != nil {
		return err
	}
	for i, l := range g.Labels {
		if l < 0 || l >= len(g.Labels) {
			return fmt.Errorf("labels: entry %d is outside 0..%d", i, len(g.Labels)-1)
		}
		g.Classes = max(g.Classes, l+1)
	}
	return nil
}
