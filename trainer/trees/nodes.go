package trees

import "iter"

// Node is a split or a leaf of a tree.
type Node struct {
	// Feature is what a split asks for, -1 for a leaf.
	Feature int
	// Threshold is the largest value that goes left.
	Threshold float32
	// MissingLeft sends rows without the feature to the left.
	MissingLeft bool
	// Left and Right are the positions of the children, 0 for a leaf.
	Left, Right int
	// Value is what a leaf adds to the score of the tree's output.
	Value float32
	// Cover is the weight of the rows that the fit had here, which is their number if
	// none had a weight: what TreeSHAP (Lundberg et al. 2020) weighs both children of
	// a split by.
	Cover float32
}

// Tree is one tree of a model. The root is the first of its nodes; children stand
// behind their parent.
type Tree struct {
	// Round counts from 0, the oldest.
	Round int
	// Output is the score that the tree adds to: 0 for two classes, else the class.
	Output int
	Nodes  []Node
}

// Trees yields the trees of the model from the oldest to the newest. A row's score of
// an output is Base plus the values of the leaves that it ends in, and for forests,
// which Averages tells, their mean.
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
