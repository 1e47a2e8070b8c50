package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"lethe"
	"lethe/lab/graphs"
	"lethe/partition/graph"
)

// trainShare is the share of the nodes of a citation graph that are partitioned,
// as in the paper.
const trainShare = 0.8

type realCmd struct {
	common
	Data  string `required:"" type:"existingdir" env:"LETHE_DATA" help:"${data}"`
	Seeds int    `default:"5" help:"Number of seeds, from 0."`
}

// Run prints, per data set and program, the scores' mean over graphs and seeds
// and the times' sum over the graphs of one seed. Programs take turns.
func (c *realCmd) Run(ctx context.Context) error {
	fmt.Println("| data set " + strings.Replace(header, "\n|", "\n|---|", 1))
	for _, set := range []struct {
		name, path string
		share      float64
	}{
		{"Cora", "planetoid/cora.npz", trainShare},
		{"CiteSeer", "planetoid/citeseer.npz", trainShare},
		{"Bitcoin-OTC", "bitcoin-otc/elliptic-format", 1},
	} {
		all, err := graphs.Load(ctx, filepath.Join(c.Data, set.path))
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
		if err := c.measure(ctx, set.name, all, set.share); err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	return nil
}

func (c *realCmd) measure(ctx context.Context, name string, all []*graphs.Graph, share float64) error {
	var ours, theirs row
	for seed := range uint64(c.Seeds) {
		for _, full := range all {
			g, err := induce(full, share, seed)
			if err != nil {
				return err
			}
			r, err := c.lethe(ctx, g, seed)
			if err != nil {
				return err
			}
			ours.add(r)
			if c.Metis == "" {
				continue
			}
			if r, err = c.metis(ctx, g, seed); err != nil {
				return err
			}
			theirs.add(r)
		}
	}
	for _, r := range []row{ours, theirs} {
		if r.program == "" {
			continue
		}
		r.mean(c.Seeds * len(all))
		r.seconds /= float64(c.Seeds)
		r.processor /= float64(c.Seeds)
		r.scores.Nodes /= c.Seeds
		r.scores.Edges /= c.Seeds
		fmt.Println("| "+name, r)
	}
	return nil
}

// induce returns the graph between a drawn share of the nodes.
func induce(full *graphs.Graph, share float64, seed uint64) (*graph.Graph, error) {
	if share == 1 {
		return graph.New(full.NumNodes(), full.Edges, full.Classes, full.NumClasses)
	}
	draw := lethe.NewDraw(seed, "train-split")
	order := make([]int, full.NumNodes())
	for i := range order {
		order[i] = i
	}
	for i := len(order) - 1; i > 0; i-- {
		j := draw.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	order = order[:int(share*float64(len(order)))]
	const absent = -1
	position := make([]int, full.NumNodes())
	for i := range position {
		position[i] = absent
	}
	classes := make([]uint8, len(order))
	for at, i := range order {
		position[i], classes[at] = at, full.Classes[i]
	}
	var edges []lethe.Edge
	for _, e := range full.Edges {
		if a, b := position[e.A], position[e.B]; a != absent && b != absent {
			edges = append(edges, lethe.Edge{A: uint32(a), B: uint32(b)})
		}
	}
	return graph.New(len(order), edges, classes, full.NumClasses)
}
