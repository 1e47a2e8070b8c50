package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"lethe/internal/planted"
	"lethe/lab/baselines"
	"lethe/partition/graph"
)

// growthCmd partitions ever larger graphs.
type growthCmd struct {
	common
	Nodes []int  `default:"10000,30000,100000,300000,1000000" help:"Numbers of nodes, ascending; five edges each."`
	Seed  uint64 `default:"1" help:"Seed of graphs and partitions."`
	Plot  string `help:"Draw <plot>.svg."`
}

// Run prints a row per graph and program.
func (c *growthCmd) Run(ctx context.Context) error {
	fmt.Println(header)
	var ours []row
	for _, nodes := range c.Nodes {
		fmt.Fprintf(os.Stderr, "%d nodes\n", nodes)
		g, err := plantedGraph(planted.Large(nodes, c.Seed))
		if err != nil {
			return fmt.Errorf("graph of %d nodes: %w", nodes, err)
		}
		r, err := c.lethe(ctx, g, c.Seed)
		if err != nil {
			return fmt.Errorf("%d nodes: %w", nodes, err)
		}
		fmt.Println(r)
		ours = append(ours, r)
		if c.Metis == "" {
			continue
		}
		if r, err = c.metis(ctx, g, c.Seed); err != nil {
			return fmt.Errorf("%d nodes: %w", nodes, err)
		}
		fmt.Println(r)
	}
	if c.Plot == "" {
		return nil
	}
	return drawGrowth(c.Plot, ours)
}

func plantedGraph(spec planted.Spec) (*graph.Graph, error) {
	edges, classes := spec.Graph()
	return graph.New(spec.Nodes, edges, classes, len(spec.ClassShares))
}

// lethe partitions a graph and measures the time of that alone, and the peak
// memory of the process, graph included.
func (c *common) lethe(ctx context.Context, g *graph.Graph, seed uint64) (row, error) {
	debug.FreeOSMemory()
	resetPeak()
	started := time.Now()
	before := processorSeconds()
	config := baselines.DefaultsOf(c.Method)
	config.Shards, config.Seed = c.Shards, seed
	_, report, err := baselines.Run(ctx, g, config)
	if err != nil {
		return row{}, err
	}
	return row{
		program: "lethe", seconds: time.Since(started).Seconds(), processor: processorSeconds() - before,
		peakMiB: peakMiB(), scores: report.Scores,
	}, nil
}
