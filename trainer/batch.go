package trainer

import (
	"fmt"
	"math"

	"lethe"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// prepared is a slice prepared as input of a program.
type prepared struct {
	*layers.Batch
	// features has a row per node and stub.
	features []float32
}

// prepare converts a slice: the real nodes first, then a row λ·x[owner] for every stub, joined to
// its owner. Stubs have no class, but they pass messages and count in the batch norms.
func (e *Engine) prepare(s *lethe.Slice) prepared {
	rows := len(s.Nodes) + len(s.Stubs)
	features := make([]float32, 0, rows*s.FeatureCount)
	features = append(features, lethe.ZeroMissing(s.Features)...)
	edges := make([]lethe.Edge, 0, len(s.Edges)+len(s.Stubs))
	edges = append(edges, s.Edges...)
	for i, stub := range s.Stubs {
		from := int(stub.Owner) * s.FeatureCount
		for _, v := range features[from : from+s.FeatureCount] {
			features = append(features, stub.Lambda*v)
		}
		edges = append(edges, lethe.Edge{A: stub.Owner, B: uint32(len(s.Nodes) + i)})
	}
	b := layers.NewBatch(rows, s.FeatureCount, features, edges)
	b.Labels = make([]int32, rows)
	b.Keys = rowKeys(s)
	counts := make([]int, e.config.Classes)
	for i := range b.Labels {
		b.Labels[i] = layers.Ignored
		if i < len(s.Nodes) && s.Labels[i] != lethe.Unknown {
			b.Labels[i] = int32(s.Labels[i]) - 1
			counts[b.Labels[i]]++
		}
	}
	b.ClassWeights = classWeights(e.config.classWeights(), counts)
	return prepared{Batch: b, features: features}
}

// rowKeys returns the keys of a slice's rows. The key of a node is its pseudonym. The key of a
// stub is its owner, its λ, which is drawn from the pair it represents, and its number among the
// owner's stubs of the same λ, which are equivalent.
func rowKeys(s *lethe.Slice) []uint64 {
	keys := make([]uint64, 0, len(s.Nodes)+len(s.Stubs))
	for _, node := range s.Nodes {
		high, low := node.Coordinates()
		keys = append(keys, lethe.NewDraw(0, "node", high, low).Uint64())
	}
	type alike struct {
		owner  uint32
		lambda uint32
	}
	seen := make(map[alike]uint64)
	for _, stub := range s.Stubs {
		kind := alike{stub.Owner, math.Float32bits(stub.Lambda)}
		high, low := s.Nodes[stub.Owner].Coordinates()
		keys = append(keys, lethe.NewDraw(0, "stub", high, low, uint64(kind.lambda), seen[kind]).Uint64())
		seen[kind]++
	}
	return keys
}

// prepareWindow converts the slices that have a label, nil for the others, into the one form that
// suits all of them.
func (e *Engine) prepareWindow(window []*lethe.Slice, a models.Architecture) (batches []*layers.Batch, rows int,
	form models.Form) {
	slices := make([]prepared, len(window))
	sparse := false
	for i, s := range window {
		if s.Labelled() == 0 {
			continue
		}
		slices[i] = e.prepare(s)
		rows = max(rows, slices[i].Rows)
		sparse = sparse || slices[i].Features.Sparse != nil
	}
	form = models.FormFor(sparse, e.config.Dropout)
	batches = make([]*layers.Batch, len(window))
	for i, s := range slices {
		if s.Batch != nil {
			e.idle.networks.Prepare(a, s.Batch, form, s.features, e.kernels)
			batches[i] = s.Batch
		}
	}
	return batches, rows, form
}

// classWeights returns the loss weights of the classes, from the number of rows of each. Only
// their ratios matter, because the loss divides by the sum of weights.
func classWeights(rule string, counts []int) []float32 {
	weights := make([]float32, len(counts))
	first := 0.0
	for c, n := range counts {
		weights[c] = 1
		if n == 0 || rule == EqualClasses {
			continue
		}
		if first == 0 {
			first = float64(n)
		}
		ratio := first / float64(n)
		if rule == RootClasses {
			ratio = math.Sqrt(ratio)
		}
		weights[c] = float32(ratio)
	}
	return weights
}

// checkSlice reports whether a slice is consistent.
func checkSlice(s *lethe.Slice, classes int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: shard %d timestep %d: %s", ErrInvalidSlice, s.Shard, s.Timestep, fmt.Sprintf(format, args...))
	}
	n := len(s.Nodes)
	switch {
	case s.FeatureCount < 1 || s.FeatureCount > models.MaxWidth:
		return fail("%d features, want 1 to %d", s.FeatureCount, models.MaxWidth)
	case len(s.Features) != n*s.FeatureCount:
		return fail("%d feature values, want %d", len(s.Features), n*s.FeatureCount)
	case len(s.Labels) != n:
		return fail("%d labels, want %d", len(s.Labels), n)
	}
	for i, l := range s.Labels {
		if int(l) > classes {
			return fail("label %d of node %d, want at most %d", l, i, classes)
		}
	}
	for i, edge := range s.Edges {
		if edge.A >= edge.B || int(edge.B) >= n {
			return fail("edge %d joins %d and %d of %d nodes", i, edge.A, edge.B, n)
		}
	}
	for i, stub := range s.Stubs {
		if int(stub.Owner) >= n {
			return fail("stub %d belongs to node %d of %d", i, stub.Owner, n)
		}
	}
	return nil
}
