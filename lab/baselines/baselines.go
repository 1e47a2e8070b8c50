// Package baselines has partition methods and options to compare with, beside those of the service: BLPA and BEKM
// of Chen et al., "Graph Unlearning" (CCS 2022), which bound the size of a shard and ignore classes, and what
// package lab/gpfbsr has.
package baselines

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lethe/internal/check"
	"lethe/lab/gpfbsr"
	"lethe/partition"
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/method"
)

// The names of the methods.
const (
	MethodGPFBSR = "gpfb-sr"
	MethodBLPA   = "blpa"
	MethodBEKM   = "bekm"
)

// The ways to convert the result of a method into shards.
const (
	// AssignQuotas fills quotas, so that shards are even in size and classes.
	AssignQuotas = "quotas"
	// AssignPlain ends as the paper does: k-means of the embedding for gpfb-fast, the indicator
	// matrix for gpfb-sr; random shards are even in size regardless of classes. It guarantees
	// nothing else.
	AssignPlain = "plain"
)

// Assigns returns them.
func Assigns() []string { return []string{AssignQuotas, AssignPlain} }

// Methods lists these methods among those of package partition, the default first.
func Methods() []string {
	return append(QuotaMethods(), MethodBLPA, MethodBEKM, partition.MethodIndependent)
}

// QuotaMethods lists the methods whose proposals meet the quotas.
func QuotaMethods() []string { return slices.Insert(partition.QuotaMethods(), 1, MethodGPFBSR) }

// Config is that of package partition with these methods and options.
type Config struct {
	partition.Config
	// Assign is the last step of GPFB and random: one of Assigns.
	Assign string `help:"How gpfb and random end; plain is the paper's end, without a promise of balance."`
	// Beta ties the embedding of gpfb-sr to its assignment. The paper searches 1 to 5, and its code
	// uses 0.01. By default 0.05: from 0.5 on, assignments under quotas cut more and more edges on
	// Cora, CiteSeer and Bitcoin-OTC.
	Beta float64 `help:"Weight of the rotation in gpfb-sr."`
	// Unnormalised uses W - D, as printed in Algorithm 1, instead of the default D^-1/2 W D^-1/2.
	Unnormalised bool `help:"Take W-D in gpfb, as the paper prints, in place of the normalised adjacency."`
	// Embedding, which may be nil, is what bekm clusters in place of the structure.
	Embedding *kmeans.Points
}

// DefaultsOf returns the defaults of a method.
func DefaultsOf(name string) Config {
	c := Config{Config: partition.DefaultsOf(name), Assign: AssignQuotas, Beta: 0.05}
	switch name {
	case MethodGPFBSR:
		c.Sweeps = gpfb.DefaultSweeps
	case MethodBLPA:
		c.Sweeps = defaultBLPASweeps
	case MethodBEKM:
		c.Sweeps = defaultBEKMSweeps
	}
	return c
}

// UsesGPFB reports whether the method is a form of GPFB.
func (c Config) UsesGPFB() bool {
	return c.Method == partition.MethodGPFBFast || c.Method == MethodGPFBSR
}

// method returns what package partition does not have, nil for its own methods.
func (c Config) method() method.Method {
	weights := gpfbsr.Config{
		Config: c.GPFB(), Plain: c.Assign == AssignPlain, Beta: c.Beta, Unnormalised: c.Unnormalised,
	}
	switch {
	case c.Method == MethodGPFBSR:
		return gpfbsr.SR{Config: weights}
	case c.Method == partition.MethodGPFBFast && (weights.Plain || weights.Unnormalised):
		return gpfbsr.Fast{Config: weights}
	case c.Method == partition.MethodRandom && weights.Plain:
		return gpfbsr.Dealt{}
	case c.Method == MethodBLPA:
		return BLPA{Sweeps: c.Sweeps}
	case c.Method == MethodBEKM:
		return BEKM{Sweeps: c.Sweeps, Embedding: c.Embedding}
	}
	return nil
}

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	c.Other = c.method()
	p := check.Of(c.Config.Validate())
	p.OneOf("assign", c.Assign, Assigns()...)
	p.That(c.Beta >= 0 && !math.IsInf(c.Beta, 1), "beta", c.Beta, "a number of at least 0")
	return p.Err()
}

// Report is that of package partition with the weights of GPFB that were used.
type Report struct {
	partition.Report
	Alpha, Beta float64
}

// Run is partition.Run with these methods and options.
func Run(ctx context.Context, g *graph.Graph, c Config) (graph.Assignment, Report, error) {
	if err := c.Validate(); err != nil {
		return nil, Report{}, fmt.Errorf("partition: %w", err)
	}
	c.Other = c.method()
	a, of, err := partition.Run(ctx, g, c.Config)
	r := Report{Report: of}
	if c.UsesGPFB() {
		r.Alpha = c.GPFB().AlphaFor(g)
	}
	if c.Method == MethodGPFBSR {
		r.Beta = c.Beta
	}
	return a, r, err
}

// fits reports whether an embedding has a row of finite numbers for each of n nodes.
func fits(e *kmeans.Points, n int) error {
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
