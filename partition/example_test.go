package partition_test

import (
	"context"
	"fmt"

	"lethe"
	"lethe/partition"
	"lethe/partition/graph"
)

// Two rings of four nodes, joined by one edge, are cut into two shards. Of every
// ring one node is illicit (class 1), and every shard gets one of them.
func Example() {
	edges := []lethe.Edge{
		{A: 0, B: 1}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 0, B: 3},
		{A: 4, B: 5}, {A: 5, B: 6}, {A: 6, B: 7}, {A: 4, B: 7},
		{A: 3, B: 4},
	}
	classes := []uint8{1, 0, 0, 0, 0, 0, 0, 1}
	g, err := graph.New(8, edges, classes, 2)
	if err != nil {
		panic(err)
	}

	config := partition.Defaults()
	config.Shards, config.Seed = 2, 1
	shards, report, err := partition.Run(context.Background(), g, config)
	if err != nil {
		panic(err)
	}
	fmt.Println("together:", shards[0] == shards[1] && shards[1] == shards[2] && shards[2] == shards[3])
	fmt.Println("apart:", shards[0] != shards[4])
	s := report.Scores
	fmt.Printf("%d of %d edges cut, shards of %d nodes\n", s.CutEdges, s.Edges, s.Sizes)

	// Output:
	// together: true
	// apart: true
	// 1 of 9 edges cut, shards of [4 4] nodes
}
