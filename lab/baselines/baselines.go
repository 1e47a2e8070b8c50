// Package baselines has the partition methods of Chen et al., "Graph Unlearning" (CCS 2022), to compare
// with: BLPA and BEKM, which bound the size of a shard and ignore classes.
package baselines

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lethe/partition"
	"lethe/partition/kmeans"
)

// The names of the methods.
const (
	MethodBLPA = "blpa"
	MethodBEKM = "bekm"
)

// Methods lists these methods among those of package partition, the default first.
func Methods() []string {
	return slices.Insert(partition.Methods(), len(partition.QuotaMethods()), MethodBLPA, MethodBEKM)
}

// With returns the defaults of a method with its own bound on sweeps, which of these methods proposes
// itself. embedding, which may be nil, is what bekm clusters in place of the structure.
func With(name string, sweeps int, embedding *kmeans.Points) partition.Config {
	c := partition.DefaultsOf(name)
	switch name {
	case MethodBLPA:
		c.Other = BLPA{Sweeps: cmp.Or(sweeps, defaultBLPASweeps)}
	case MethodBEKM:
		c.Other = BEKM{Sweeps: cmp.Or(sweeps, defaultBEKMSweeps), Embedding: embedding}
	default:
		c.Sweeps = cmp.Or(sweeps, c.Sweeps)
	}
	return c
}

// check reports whether an embedding has a row of finite numbers for each of n nodes.
func check(e *kmeans.Points, n int) error {
	if e.Columns < 1 || len(e.Values) != n*e.Columns {
		return fmt.Errorf("embedding has %d values in rows of %d, want %d rows", len(e.Values), e.Columns, n)
	}
	for p, x := range e.Values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("embedding of node %d has %v in column %d, want finite numbers", p/e.Columns, x, p%e.Columns)
		}
	}
	return nil
}
