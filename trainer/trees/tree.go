package trees

// node is a split or a leaf of a tree.
type node struct {
	// feature is what a split asks for; leaf marks a leaf.
	feature int32
	// value is a split's threshold, or what a leaf adds to the score.
	value float32
	// right is the position of the child for rows above the threshold. The
	// child for the others follows the split.
	right uint32
	// cover is the weight of the rows that the fit had here.
	cover float32
	// missingLeft sends rows without the feature to the left child.
	missingLeft bool
}

// leaf is the feature of a node that has none.
const leaf = -1

// tree is a decision tree in preorder.
type tree []node

// score returns the value of the leaf that a row ends in.
func (t tree) score(row []float32) float32 {
	at := uint32(0)
	for t[at].feature != leaf {
		if v := row[t[at].feature]; v <= t[at].value || v != v && t[at].missingLeft {
			at++
		} else {
			at = t[at].right
		}
	}
	return t[at].value
}

// leaves counts the leaves.
func (t tree) leaves() int { return (len(t) + 1) / 2 }

// depth is the largest number of splits above a leaf.
func (t tree) depth() int {
	depths := make([]int, len(t))
	most := 0
	for i, n := range t {
		if n.feature != leaf {
			depths[i+1], depths[n.right] = depths[i]+1, depths[i]+1
			most = max(most, depths[i]+1)
		}
	}
	return most
}
