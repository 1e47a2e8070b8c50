package trees

// node is a split or a leaf of a tree.
type node struct {
	// feature is the feature of a split; the constant leaf marks a leaf.
	feature int32
	// value is a split's threshold, or a leaf's contribution to the score.
	value float32
	// right is the position of the child for rows above the threshold. The other child follows the
	// split directly.
	right uint32
	// cover is the weight of the fit's rows at this node.
	cover float32
	// missingLeft sends rows without the feature to the left child.
	missingLeft bool
}

// leaf is the feature of a leaf.
const leaf = -1

// tree is a decision tree in preorder.
type tree []node

// score returns the value of a row's leaf.
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

// depth returns the largest number of splits above a leaf.
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
