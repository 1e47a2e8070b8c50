package trainer

import (
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// Input is a graph to score: Rows nodes with Cols features each, row-major, and undirected edges,
// each listed once with A < B.
type Input struct {
	Rows, Cols int
	Features   []float32
	Edges      []lethe.Edge
	// shared is nil unless layouts are cached.
	shared *layouts
}

// InputOf returns the whole graph of a snapshot, Shared: its features and its payments as
// undirected edges. Features alias the snapshot.
func InputOf(s *lethe.Snapshot) Input {
	return Input{Rows: len(s.Nodes), Cols: s.FeatureCount, Features: s.Features, Edges: s.Undirected()}.Shared()
}

// InputOfSlice returns the graph of a slice, Shared, without its stubs. Features and
// edges alias the slice.
func InputOfSlice(s *lethe.Slice) Input {
	return Input{Rows: len(s.Nodes), Cols: s.FeatureCount, Features: s.Features, Edges: s.Edges}.Shared()
}

// InputOfNodes returns some nodes of a slice without edges, for models that process one row at a
// time (Config.LooksAtRows).
func InputOfNodes(s *lethe.Slice, nodes []int) Input {
	in := Input{Rows: len(nodes), Cols: s.FeatureCount, Features: make([]float32, 0, len(nodes)*s.FeatureCount)}
	for _, node := range nodes {
		in.Features = append(in.Features, s.Row(node)...)
	}
	return in
}

// Shared returns the input with a cache for everything that models derive from a graph independently of their weights,
// so that the models of an ensemble derive it only once, in sequence or in parallel. Features and edges must not
// change afterwards.
func (in Input) Shared() Input {
	in.shared = &layouts{kept: make(map[layoutKey]layout)}
	return in
}

// layouts caches one layout of a graph per kind of model.
type layouts struct {
	mu   sync.Mutex
	kept map[layoutKey]layout
}

// layoutKey identifies a layout of a graph.
type layoutKey struct {
	model, kernels string
	hops           int
}

// layout is a graph in the form of a program's input. Scoring only reads it.
type layout struct {
	batch *layers.Batch
	form  models.Form
}

// layout returns the layout of the graph for models of an architecture.
func (in Input) layout(a models.Architecture, by *pool) layout {
	if in.shared == nil {
		return in.lay(a, by)
	}
	key := layoutKey{model: a.Model, kernels: by.kernels.Name, hops: a.Hops}
	in.shared.mu.Lock()
	defer in.shared.mu.Unlock()
	kept, ok := in.shared.kept[key]
	if !ok {
		kept = in.lay(a, by)
		in.shared.kept[key] = kept
	}
	return kept
}

func (in Input) lay(a models.Architecture, by *pool) layout {
	features := lethe.ZeroMissing(in.Features)
	batch := layers.NewBatch(in.Rows, in.Cols, features, in.Edges)
	form := models.FormFor(batch.Features.Sparse != nil, 0)
	by.networks.Prepare(a, batch, form, features, by.kernels)
	return layout{batch: batch, form: form}
}

// check reports whether the input is consistent and fits the model.
func (in Input) check(features int) error {
	switch {
	case in.Cols != features:
		return fmt.Errorf("%w: graph has %d features, model %d", ErrIncompatible, in.Cols, features)
	case len(in.Features) != in.Rows*in.Cols:
		return fmt.Errorf("%w: %d feature values, want %d", ErrInvalidSlice, len(in.Features), in.Rows*in.Cols)
	}
	for i, e := range in.Edges {
		if e.A >= e.B || int(e.B) >= in.Rows {
			return fmt.Errorf("%w: edge %d joins %d and %d of %d nodes", ErrInvalidSlice, i, e.A, e.B, in.Rows)
		}
	}
	return nil
}

// Around returns the subgraph within a number of edges of a row, and its rows in the graph,
// ascending. Its features are copies, and it is not Shared. neighbours is the result of
// Neighbours.
func (in Input) Around(row, reach int, neighbours [][]uint32) (part Input, rows []uint32) {
	seen := map[uint32]bool{uint32(row): true}
	rows = append(rows, uint32(row))
	for from := 0; reach > 0; reach-- {
		ring := rows[from:]
		from = len(rows)
		for _, i := range ring {
			for _, j := range neighbours[i] {
				if !seen[j] {
					seen[j] = true
					rows = append(rows, j)
				}
			}
		}
	}
	slices.Sort(rows)
	part = Input{Rows: len(rows), Cols: in.Cols}
	at := make(map[uint32]uint32, len(rows))
	for i, j := range rows {
		at[j] = uint32(i)
		part.Features = append(part.Features, in.row(int(j))...)
	}
	for i, j := range rows {
		for _, k := range neighbours[j] {
			if other, within := at[k]; within && uint32(i) < other {
				part.Edges = append(part.Edges, lethe.Edge{A: uint32(i), B: other})
			}
		}
	}
	return part, rows
}

// Neighbours lists the neighbours of every row, ascending.
func (in Input) Neighbours() [][]uint32 {
	out := make([][]uint32, in.Rows)
	for _, e := range in.Edges {
		out[e.A] = append(out[e.A], e.B)
		out[e.B] = append(out[e.B], e.A)
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out
}

// row returns the features of a row. It aliases the input.
func (in Input) row(i int) []float32 { return in.Features[i*in.Cols : (i+1)*in.Cols] }
