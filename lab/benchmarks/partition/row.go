package main

import (
	"fmt"

	"lethe/partition/scores"
)

const header = `| program | nodes | edges | seconds | processor seconds | peak MiB | cut | balance | fairness |
|---|---|---|---|---|---|---|---|---|`

// row is one line of the table: one program on one graph.
type row struct {
	program            string
	seconds, processor float64
	// peakMiB is 0 where the system does not tell.
	peakMiB float64
	scores  scores.Scores
}

func (r row) String() string {
	s := r.scores
	return fmt.Sprintf("| %s | %d | %d | %.3f | %.3f | %.0f | %.4f | %.4f | %.4f |",
		r.program, s.Nodes, s.Edges, r.seconds, r.processor, r.peakMiB, s.EdgeCut, s.Balance, s.Fairness)
}

// add adds the row of another graph.
func (r *row) add(other row) {
	r.program = other.program
	r.seconds += other.seconds
	r.processor += other.processor
	r.peakMiB = max(r.peakMiB, other.peakMiB)
	r.scores.Nodes += other.scores.Nodes
	r.scores.Edges += other.scores.Edges
	r.scores.EdgeCut += other.scores.EdgeCut
	r.scores.Balance += other.scores.Balance
	r.scores.Fairness += other.scores.Fairness
}

// mean turns the sums of scores over a number of graphs into means; times and
// counts stay sums.
func (r *row) mean(graphs int) {
	r.scores.EdgeCut /= float64(graphs)
	r.scores.Balance /= float64(graphs)
	r.scores.Fairness /= float64(graphs)
}
