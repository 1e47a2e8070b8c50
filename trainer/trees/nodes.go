package trees

import "iter"

// Node is a split or a leaf of a tree.
type Node struct {
	// Feature is the feature of a split, -1 for a leaf.
	Feature int
	// Threshold is the largest value that goes left.
	Threshold float32
	// MissingLeft sends rows without the feature to the left.
	MissingLeft bool
	// Left and Right are the positions of the children, 0 for a leaf.
	Left, Right int
	// Value is a leaf's contribution to the score of the tree's output.
	Value float32
	// Cover is the weight of the fit's rows at this node, their number if they had no weights.
	// TreeSHAP (Lundberg et al. 2020) weighs the children of a split by it. It is 0 in models
	// encoded before covers existed.
	Cover float32
}

// Tree is one tree of a model. The root is its first node; children follow their parent.
type Tree struct {
	// Round counts from 0, the oldest.
	Round int
	// Output is the score of the tree: 0 for two classes, else the class.
	Output int
	Nodes  []Node
}

// Trees yields the trees of the model from the oldest to the newest. A row's score of an output
// is Base plus the values of its leaves.
func (m *Model) Trees() iter.Seq[Tree] {
	return func(yield func(Tree) bool) {
		for i, t := range m.trees {
			out := Tree{Round: i / m.outputs(), Output: i % m.outputs(), Nodes: make([]Node, len(t))}
			for at, n := range t {
				o := Node{Feature: leaf, Value: n.value, Cover: n.cover}
				if n.feature != leaf {
					o = Node{
						Feature: int(n.feature), Threshold: n.value, MissingLeft: n.missingLeft,
						Left: at + 1, Right: int(n.right), Cover: n.cover,
					}
				}
				out.Nodes[at] = o
			}
			if !yield(out) {
				return
			}
		}
	}
}
