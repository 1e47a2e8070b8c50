package trees

import (
	"errors"
	"fmt"
	"math"

	"lethe/canonical"
	"lethe/trainer/tabular"
)

const (
	modelMagic = "LGBT"
	// modelVersion is the version of the format.
	modelVersion = 1
)

// Encode returns the model's canonical bytes.
func (m *Model) Encode() []byte {
	w := canonical.NewWriter(modelMagic, modelVersion)
	w.Uint32(uint32(m.classes))
	w.Uint32(uint32(m.features))
	for _, b := range m.base {
		w.Uint64(math.Float64bits(b))
	}
	w.Count(len(m.trees))
	for _, t := range m.trees {
		w.Count(len(t))
		for _, n := range t {
			w.Uint32(uint32(n.feature))
			w.Uint32(math.Float32bits(n.value))
			w.Uint32(n.right)
			w.Uint32(math.Float32bits(n.cover))
			w.Flag(n.missingLeft)
		}
	}
	return w.Seal()
}

// Decode reads the output of Encode. The error wraps canonical.ErrCorrupt for bytes that are
// truncated, altered or inconsistent, and canonical.ErrVersion for a format that this program does
// not read.
func Decode(message []byte) (*Model, error) {
	r, err := canonical.NewReader(message, modelMagic, modelVersion)
	if err != nil {
		return nil, fmt.Errorf("trees: %w", err)
	}
	m := &Model{classes: int(r.Uint32()), features: int(r.Uint32())}
	if m.classes < 2 || m.classes > tabular.MaxClasses || m.features < 1 || m.features > tabular.MaxFeatures {
		return nil, fmt.Errorf("trees: %w: %d classes, %d features", canonical.ErrCorrupt, m.classes, m.features)
	}
	m.base = make([]float64, m.outputs())
	for i := range m.base {
		m.base[i] = math.Float64frombits(r.Uint64())
	}
	m.trees = make([]tree, r.Count(4))
	for i := range m.trees {
		m.trees[i] = decodeTree(r)
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("trees: %w", err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("trees: %w: %w", canonical.ErrCorrupt, err)
	}
	m.compile()
	return m, nil
}

func decodeTree(r *canonical.Reader) tree {
	t := make(tree, r.Count(17))
	for k := range t {
		t[k] = node{
			feature: int32(r.Uint32()), value: math.Float32frombits(r.Uint32()), right: r.Uint32(),
			cover: math.Float32frombits(r.Uint32()), missingLeft: r.Flag(),
		}
	}
	return t
}

// check reports whether the model is consistent.
func (m *Model) check() error {
	if len(m.trees)%m.outputs() != 0 {
		return fmt.Errorf("%d trees for %d scores", len(m.trees), m.outputs())
	}
	for _, b := range m.base {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return errors.New("a base score is not finite")
		}
	}
	for i, t := range m.trees {
		if err := t.check(m.features); err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
	}
	return nil
}

// check reports whether every path ends in a leaf. In preorder a split precedes both its
// children, so positions only increase downwards.
func (t tree) check(features int) error {
	if len(t) == 0 {
		return errors.New("no node")
	}
	for i, n := range t {
		switch {
		case n.value-n.value != 0:
			return fmt.Errorf("node %d holds a value that is not finite", i)
		case !(n.cover >= 0) || n.cover > math.MaxFloat32:
			return fmt.Errorf("node %d has a cover that is no finite number from 0", i)
		case n.feature == leaf:
		case n.feature < 0 || int(n.feature) >= features:
			return fmt.Errorf("node %d asks for feature %d of %d", i, n.feature, features)
		case int64(n.right) <= int64(i)+1 || int64(n.right) >= int64(len(t)):
			return fmt.Errorf("node %d leads to %d of %d nodes", i, n.right, len(t))
		}
	}
	return nil
}
