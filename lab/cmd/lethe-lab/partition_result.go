package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"lethe"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
	"lethe/lab/baselines"
	"lethe/partition/scores"
)

// partitionResult holds means of the scores over the timesteps, and sums of the
// rest.
type partitionResult struct {
	Method         string          `json:"method"`
	Shards         int             `json:"shards"`
	Nodes          int             `json:"nodes"`
	Edges          int             `json:"edges"`
	Balance        float64         `json:"balance"`
	Fairness       float64         `json:"fairness"`
	EdgeCut        float64         `json:"edge_cut"`
	ExpectedShards scores.Reach    `json:"expected_shards"`
	Seconds        float64         `json:"seconds"`
	Steps          []partitionStep `json:"steps"`
}

type partitionStep struct {
	Timestep       lethe.Timestep `json:"timestep"`
	Nodes          int            `json:"nodes"`
	Edges          int            `json:"edges"`
	Balance        float64        `json:"balance"`
	Fairness       float64        `json:"fairness"`
	EdgeCut        float64        `json:"edge_cut"`
	ExpectedShards scores.Reach   `json:"expected_shards"`
	Alpha          float64        `json:"alpha,omitempty"`
	Beta           float64        `json:"beta,omitempty"`
	Iterations     int            `json:"iterations"`
	Objective      []float64      `json:"objective,omitempty"`
	// Sizes holds nodes per shard, ClassCounts the same by class.
	Sizes       []int   `json:"sizes"`
	ClassCounts [][]int `json:"class_counts"`
	Seconds     float64 `json:"seconds"`
}

func newPartitionStep(t lethe.Timestep, r baselines.Report, took time.Duration) partitionStep {
	s := r.Scores
	return partitionStep{
		Timestep: t, Nodes: s.Nodes, Edges: s.Edges,
		Balance: s.Balance, Fairness: s.Fairness, EdgeCut: s.EdgeCut, ExpectedShards: s.Reach,
		Alpha: r.Alpha, Beta: r.Beta, Iterations: r.Iterations, Objective: r.Objective,
		Sizes: s.Sizes, ClassCounts: s.ClassCounts, Seconds: took.Seconds(),
	}
}

func (r *partitionResult) add(step partitionStep) {
	r.Steps = append(r.Steps, step)
	r.Nodes += step.Nodes
	r.Edges += step.Edges
	r.Balance += step.Balance
	r.Fairness += step.Fairness
	r.EdgeCut += step.EdgeCut
	r.ExpectedShards.Shard += step.ExpectedShards.Shard
	r.ExpectedShards.Stubs += step.ExpectedShards.Stubs
	r.ExpectedShards.Partition += step.ExpectedShards.Partition
	r.Seconds += step.Seconds
}

// mean turns the sums of the scores into means over the timesteps.
func (r *partitionResult) mean() {
	if n := float64(len(r.Steps)); n > 0 {
		r.Balance, r.Fairness, r.EdgeCut = r.Balance/n, r.Fairness/n, r.EdgeCut/n
		e := &r.ExpectedShards
		e.Shard, e.Stubs, e.Partition = e.Shard/n, e.Stubs/n, e.Partition/n
	}
}

// print writes a table with a line per timestep, and one over all if there are several.
func (r *partitionResult) print(a *command.App) error {
	head := []string{"timestep", "nodes", "edges", "balance", "fairness", "edge cut", "stubs", "sizes", "seconds"}
	rows := [][]string{head}
	low, high := math.MaxInt, 0
	for _, s := range r.Steps {
		rows = append(rows, s.row(strconv.FormatInt(int64(s.Timestep), 10), slices.Min(s.Sizes), slices.Max(s.Sizes)))
		low, high = min(low, slices.Min(s.Sizes)), max(high, slices.Max(s.Sizes))
	}
	if len(r.Steps) > 1 {
		all := partitionStep{
			Nodes: r.Nodes, Edges: r.Edges, Balance: r.Balance, Fairness: r.Fairness,
			EdgeCut: r.EdgeCut, ExpectedShards: r.ExpectedShards, Seconds: r.Seconds,
		}
		rows = append(rows, all.row("all", low, high))
	}
	return command.Table(a.Stdout, rows)
}

func (s *partitionStep) row(name string, low, high int) []string {
	return []string{
		name, strconv.Itoa(s.Nodes), strconv.Itoa(s.Edges), fmt.Sprintf("%.4f", s.Balance),
		fmt.Sprintf("%.4f", s.Fairness), fmt.Sprintf("%.3f", s.EdgeCut), fmt.Sprintf("%.2f", s.ExpectedShards.Stubs),
		fmt.Sprintf("%d-%d", low, high), fmt.Sprintf("%.3f", s.Seconds),
	}
}

// writeCSV writes rows to a file.
func writeCSV(path string, rows [][]string) error {
	return atomicfile.WriteFrom(path, 0o666, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}
