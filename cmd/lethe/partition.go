package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"lethe"
	"lethe/dataset"
	"lethe/partition"
)

type partitionCmd struct {
	Dataset       string  `help:"Folder with Elliptic's CSV files, or a citation .npz." required:"" type:"path" placeholder:"PATH"`
	Shards        int     `help:"Number of shards." required:"" placeholder:"V"`
	Method        string  `help:"${enum}; the default is gpfb-fast." enum:"gpfb-fast,gpfb-sr,random,blpa,bekm" default:"gpfb-fast"`
	Seed          uint64  `help:"Seed of every draw." default:"1"`
	TrainFraction float64 `help:"Partition the graph induced on this fraction of the nodes." default:"1" placeholder:"F"`
	Refine        bool    `help:"Lower the cut by swapping nodes of one class between shards." default:"true" negatable:""`
	Assignments   string  `help:"Write id,timestep,shard of every node to this CSV file." type:"path" placeholder:"FILE"`
	JSON          bool    `help:"Print one JSON document."`
}

// Help shows an example.
func (partitionCmd) Help() string {
	return `Example:
  lethe partition --dataset stream --shards 20 --assignments shards.csv

Balance and fairness are those of the paper: 0 is best. edge_cut is the fraction
of edges between shards.`
}

type partitionResult struct {
	Method   string          `json:"method"`
	Shards   int             `json:"shards"`
	Nodes    int             `json:"nodes"`
	Edges    int             `json:"edges"`
	Balance  float64         `json:"balance"`
	Fairness float64         `json:"fairness"`
	EdgeCut  float64         `json:"edge_cut"`
	Seconds  float64         `json:"seconds"`
	Steps    []partitionStep `json:"steps"`
}

type partitionStep struct {
	Timestep lethe.Timestep `json:"timestep"`
	Nodes    int            `json:"nodes"`
	Edges    int            `json:"edges"`
	Balance  float64        `json:"balance"`
	Fairness float64        `json:"fairness"`
	EdgeCut  float64        `json:"edge_cut"`
	Seconds  float64        `json:"seconds"`
}

// Run partitions every timestep.
func (c *partitionCmd) Run(a *app) error {
	if c.Shards < 1 {
		return usagef("--shards is %d, must be at least 1", c.Shards)
	}
	if c.TrainFraction <= 0 || c.TrainFraction > 1 {
		return usagef("--train-fraction is %g, must be above 0, at most 1", c.TrainFraction)
	}
	if c.Method != partition.MethodGPFBFast && c.Method != partition.MethodRandom {
		return usagef("--method %s is not built yet: use %s or %s", c.Method, partition.MethodGPFBFast, partition.MethodRandom)
	}
	if err := c.checkAssignments(); err != nil {
		return err
	}
	graphs, err := dataset.LoadGraphs(a.ctx, c.Dataset)
	if err != nil {
		return err
	}
	result := &partitionResult{Method: c.Method, Shards: c.Shards, Steps: []partitionStep{}}
	rows := [][]string{{"id", "timestep", "shard"}}
	p := newProgress(a.stderr)
	for i, g := range graphs {
		g = g.Induce(c.TrainFraction, c.Seed)
		step, assignment, err := c.one(a.ctx, g)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", g.Timestep, err)
		}
		result.add(step)
		for node, shard := range assignment {
			rows = append(rows, []string{g.ID(node), strconv.FormatInt(int64(g.Timestep), 10), strconv.FormatUint(uint64(shard), 10)})
		}
		if len(graphs) > 1 {
			p.show("timestep %d (%d of %d)", g.Timestep, i+1, len(graphs))
		}
	}
	result.mean()
	if c.Assignments != "" {
		if err := writeCSV(c.Assignments, rows); err != nil {
			return err
		}
	}
	if c.JSON {
		return a.printJSON(result)
	}
	return result.print(a)
}

// checkAssignments finds out before the work whether its result can be written.
func (c *partitionCmd) checkAssignments() error {
	if c.Assignments == "" {
		return nil
	}
	if info, err := os.Stat(c.Assignments); err == nil && info.IsDir() {
		return fmt.Errorf("--assignments %s is a folder: name a file", c.Assignments)
	}
	if info, err := os.Stat(filepath.Dir(c.Assignments)); err != nil || !info.IsDir() {
		return fmt.Errorf("--assignments %s cannot be written: there is no such folder (make it first)", c.Assignments)
	}
	return nil
}

// one partitions one graph; the time is that of the partition alone.
func (c *partitionCmd) one(ctx context.Context, g *dataset.Graph) (partitionStep, partition.Assignment, error) {
	graph, err := partition.NewGraph(g.NumNodes(), g.Edges, g.Classes, g.NumClasses)
	if err != nil {
		return partitionStep{}, nil, err
	}
	started := time.Now()
	assignment, report, err := partition.Run(ctx, graph, partition.Options{
		Shards: c.Shards, Method: c.Method, Seed: c.Seed, NoRefine: !c.Refine,
	})
	if err != nil {
		return partitionStep{}, nil, err
	}
	s := report.Scores
	return partitionStep{
		Timestep: g.Timestep, Nodes: s.Nodes, Edges: s.Edges,
		Balance: s.Balance, Fairness: s.Fairness, EdgeCut: s.EdgeCut, Seconds: time.Since(started).Seconds(),
	}, assignment, nil
}

func (r *partitionResult) add(step partitionStep) {
	r.Steps = append(r.Steps, step)
	r.Nodes += step.Nodes
	r.Edges += step.Edges
	r.Balance += step.Balance
	r.Fairness += step.Fairness
	r.EdgeCut += step.EdgeCut
	r.Seconds += step.Seconds
}

// mean turns the sums of the scores into means over the timesteps.
func (r *partitionResult) mean() {
	if n := float64(len(r.Steps)); n > 0 {
		r.Balance, r.Fairness, r.EdgeCut = r.Balance/n, r.Fairness/n, r.EdgeCut/n
	}
}

func (r *partitionResult) print(a *app) error {
	rows := [][]string{{"timestep", "nodes", "edges", "balance", "fairness", "edge cut", "seconds"}}
	row := func(name string, s partitionStep) {
		rows = append(rows, []string{
			name, strconv.Itoa(s.Nodes), strconv.Itoa(s.Edges), fmt.Sprintf("%.4f", s.Balance),
			fmt.Sprintf("%.4f", s.Fairness), fmt.Sprintf("%.3f", s.EdgeCut), fmt.Sprintf("%.3f", s.Seconds),
		})
	}
	for _, s := range r.Steps {
		row(strconv.FormatInt(int64(s.Timestep), 10), s)
	}
	if len(r.Steps) > 1 {
		row("all", partitionStep{
			Nodes: r.Nodes, Edges: r.Edges, Balance: r.Balance,
			Fairness: r.Fairness, EdgeCut: r.EdgeCut, Seconds: r.Seconds,
		})
	}
	return table(a.stdout, rows)
}

// writeCSV writes rows to a file.
func writeCSV(path string, rows [][]string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	err = w.WriteAll(rows)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
