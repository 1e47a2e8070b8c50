// Package scores measures assignments: balance, fairness, cut, and how many shards
// an erasure reaches.
package scores

import (
	"fmt"
	"math"

	"lethe/partition/graph"
)

// Scores measures the quality of a partition. Balance and Fairness are those of Wang, Huai and
// Wang (2023): 0 is best, all other values are negative.
type Scores struct {
	// Nodes and Edges count the graph; every undirected edge counts once.
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
	// CutEdges counts the edges between two shards, EdgeCut is their share of the edges (0 without
	// edges).
	CutEdges int     `json:"cut_edges"`
	EdgeCut  float64 `json:"edge_cut"`
	// Balance is -1/2 Σ_i | |V_i| - n/v | / n over the v shards.
	Balance float64 `json:"balance"`
	// Fairness is -1/(2v) Σ_i Σ_s | |C_s ∩ V_i| / |V_i| - |C_s| / n |. A shard without nodes adds
	// nothing, but counts in v.
	Fairness float64 `json:"fairness"`
	// Reach is the cost of erasing one node.
	Reach Reach `json:"expected_shards"`
	// Sizes holds the number of nodes per shard, ClassCounts the same by class:
	// shards × classes.
	Sizes       []int   `json:"sizes"`
	ClassCounts [][]int `json:"class_counts"`
}

// Of measures an assignment to the given number of shards. The error wraps graph.ErrAssignment if
// they do not fit.
func Of(g *graph.Graph, a graph.Assignment, shards int) (Scores, error) {
	if err := a.Check(g.N(), shards); err != nil {
		return Scores{}, fmt.Errorf("score: %w", err)
	}
	s := Scores{Nodes: g.N(), Edges: g.NumEdges(), CutEdges: g.CutEdges(a), Reach: reach(g, a, shards)}
	s.Sizes = make([]int, shards)
	s.ClassCounts = make([][]int, shards)
	for i := range s.ClassCounts {
		s.ClassCounts[i] = make([]int, g.NumClasses())
	}
	for i, shard := range a {
		s.Sizes[shard]++
		s.ClassCounts[shard][g.Class(i)]++
	}
	if s.Edges > 0 {
		s.EdgeCut = float64(s.CutEdges) / float64(s.Edges)
	}
	if s.Nodes > 0 {
		s.Balance = Balance(s.Sizes)
		s.Fairness = Fairness(s.ClassCounts)
	}
	return s, nil
}

// Balance computes Scores.Balance from the sizes of shards; 0 for no nodes.
func Balance(sizes []int) float64 {
	n := 0
	for _, size := range sizes {
		n += size
	}
	if n == 0 {
		return 0
	}
	sum := 0.0
	for _, size := range sizes {
		sum += math.Abs(float64(size) - float64(n)/float64(len(sizes)))
	}
	return 0 - sum/2/float64(n) // 0 - x, so that a perfect score is not -0
}

// Fairness computes Scores.Fairness from the counts of classes, shards × classes; 0 for no nodes.
func Fairness(counts [][]int) float64 {
	n, sizes := 0, make([]int, len(counts))
	var classCounts []int
	for i, shard := range counts {
		classCounts = append(classCounts, make([]int, max(0, len(shard)-len(classCounts)))...)
		for class, count := range shard {
			n, sizes[i], classCounts[class] = n+count, sizes[i]+count, classCounts[class]+count
		}
	}
	if n == 0 {
		return 0
	}
	sum := 0.0
	for i, size := range sizes {
		if size == 0 {
			continue
		}
		for s, count := range classCounts {
			sum += math.Abs(float64(counts[i][s])/float64(size) - float64(count)/float64(n))
		}
	}
	return 0 - sum/2/float64(len(sizes))
}
