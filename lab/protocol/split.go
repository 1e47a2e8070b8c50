package protocol

import (
	"lethe/lab/graphs"
)

// Split says which nodes train and which test.
type Split struct {
	// Train and Test ascend and share no node; together they are all nodes.
	Train, Test []int
	// isTest tells for every node.
	isTest []bool
}

// NewSplit draws a share of the nodes for training, rounded to the nearest
// number. It takes the nodes that lethe-lab partition --train-fraction takes for
// the same seed.
func NewSplit(nodes int, trainFraction float64, seed uint64) Split {
	all := &graphs.Graph{Classes: make([]uint8, nodes), Rows: make([]int, nodes)}
	s := Split{isTest: make([]bool, nodes)}
	for i := range nodes {
		all.Rows[i], s.isTest[i] = i, true
	}
	s.Train = all.Induce(trainFraction, seed).Rows
	for _, node := range s.Train {
		s.isTest[node] = false
	}
	for node, test := range s.isTest {
		if test {
			s.Test = append(s.Test, node)
		}
	}
	return s
}
