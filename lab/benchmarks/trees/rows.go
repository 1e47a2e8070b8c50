package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"lethe"
	"lethe/dataset"
	"lethe/partition/onehop"
	"lethe/trainer/tabular"
)

// Elliptic has so many labelled rows.
const ellipticRows = 46564

// problem is what both sides learn and are then asked.
type problem struct {
	name        string
	train, test tabular.Rows
}

// generated has two streams' worth of Elliptic's rows with Elliptic's 165 features,
// their neighbours' means and degrees. Every other labelled row is learnt from, so
// that training and test rows are alike.
func generated() (problem, error) {
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features = 49, 2*4159, 165
	stream, err := dataset.Generate(options)
	if err != nil {
		return problem{}, err
	}
	p := problem{name: "generated"}
	for i := range stream.Steps {
		all := labelled(&stream.Steps[i])
		for at := range all.Len() {
			if at%2 == 0 {
				add(&p.train, all, at)
			} else {
				add(&p.test, all, at)
			}
		}
	}
	if n := min(p.train.Len(), p.test.Len()); n < ellipticRows {
		return p, fmt.Errorf("generated %d labelled rows, want %d", n, ellipticRows)
	}
	p.train, p.test = first(p.train, ellipticRows), first(p.test, ellipticRows)
	return p, nil
}

// bitcoinOTC learns from timesteps 1 to 34 and is asked about those that follow.
func bitcoinOTC(ctx context.Context, data string) (problem, error) {
	stream, err := dataset.LoadElliptic(ctx, filepath.Join(data, "bitcoin-otc", "elliptic-format"))
	if err != nil {
		return problem{}, err
	}
	p := problem{name: "Bitcoin-OTC"}
	for i := range stream.Steps {
		into := &p.train
		if stream.Steps[i].Timestep > 34 {
			into = &p.test
		}
		all := labelled(&stream.Steps[i])
		for at := range all.Len() {
			add(into, all, at)
		}
	}
	return p, nil
}

// labelled returns a timestep's labelled rows with one-hop features.
func labelled(step *dataset.Step) tabular.Rows {
	s := onehop.Undirected.Join(snapshotOf(step))
	slice := &lethe.Slice{Timestep: s.Timestep, FeatureCount: s.FeatureCount, Features: s.Features}
	for _, n := range s.Nodes {
		slice.Nodes, slice.Labels = append(slice.Nodes, n.Pseudonym), append(slice.Labels, n.Label)
	}
	return tabular.FromSlices([]*lethe.Slice{slice})
}

// snapshotOf returns a timestep as a graph, its nodes in the order of the data.
func snapshotOf(step *dataset.Step) *lethe.Snapshot {
	var secret lethe.Secret
	s := &lethe.Snapshot{Timestep: step.Timestep}
	at := make(map[lethe.TransactionID]uint32, len(step.Transactions))
	for i, t := range step.Transactions {
		at[t.ID], s.FeatureCount = uint32(i), len(t.Features)
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: secret.Pseudonym(t.ID), ID: t.ID})
		s.Features = append(s.Features, t.Features...)
	}
	for _, l := range step.Labels {
		s.Nodes[at[l.ID]].Label = l.Label
	}
	for _, p := range step.Payments {
		s.Payments = append(s.Payments, lethe.Arc{Source: at[p.Source], Target: at[p.Target]})
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	s.Payments = slices.Compact(s.Payments)
	return s
}

func add(into *tabular.Rows, from tabular.Rows, i int) {
	into.Cols = from.Cols
	into.Features = append(into.Features, from.Row(i)...)
	into.Labels = append(into.Labels, from.Labels[i])
	into.Keys = append(into.Keys, from.Keys[i])
}

func first(r tabular.Rows, n int) tabular.Rows {
	return tabular.Rows{Cols: r.Cols, Features: r.Features[:n*r.Cols], Labels: r.Labels[:n], Keys: r.Keys[:n]}
}

// mean of some numbers.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// median of some numbers, of an even count the upper one.
func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
