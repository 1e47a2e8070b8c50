package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"lethe"
	"lethe/dataset"
)

// settleTime lets the broker's cleaner and what else goes on during the requests
// come to rest between rounds.
const settleTime = 500 * time.Millisecond

// nameOf names a dataset after its folder.
func nameOf(folder string) string {
	if base := filepath.Base(folder); base != "elliptic-format" {
		return base
	}
	return filepath.Base(filepath.Dir(folder))
}

// measure feeds the stream, erases, and stops the service.
func (c *runCmd) measure(ctx context.Context, d *deployment) (rows []row, err error) {
	defer func() { err = errors.Join(err, d.close()) }()
	about, next, err := c.feed(ctx, d)
	if err != nil {
		return nil, err
	}
	if c.Profile != "" {
		stop, err := profile(c.Profile)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	for round := range c.Requests {
		time.Sleep(settleTime)
		list, last := c.requests(round, next)
		asked := about
		asked.Scope, asked.Targets, asked.Customers = last.scope, last.transactions, last.customer
		if c.Plan {
			if asked, err = d.plan(ctx, list, about); err != nil {
				return rows, fmt.Errorf("plan of round %d: %w", round, err)
			}
		}
		r, err := d.round(ctx, list, asked)
		if err != nil {
			return rows, fmt.Errorf("round %d: %w", round, err)
		}
		fmt.Fprintf(os.Stderr, "round %d: suppressed %.3f swapped %.2f erased %.2f verified %.2f s, "+
			"processor %.2f and %.2f s, %d shards\n",
			round, r.Suppressed, r.Swapped, r.Erased, r.Verified, r.ProcessorSwapped, r.ProcessorVerified, r.Shards)
		if c.Plan {
			fmt.Fprintf(os.Stderr, "round %d: planned swapped %.2f s from %s, off by %.2f\n", round, r.Planned, r.Basis,
				off(r.Planned, r.Swapped))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// feed has the stream trained through. It returns what all rows have in common and what
// draws transactions. The stream is not kept: it may be as large as the rest.
func (c *runCmd) feed(ctx context.Context, d *deployment) (about row, next func() drawn, err error) {
	stream, err := c.stream(ctx)
	if err != nil {
		return about, nil, err
	}
	about = row{
		Data: stream.Name, Timesteps: len(stream.Steps), Features: stream.FeatureCount,
		Together: c.Together, Age: c.Age,
	}
	for _, step := range stream.Steps {
		about.Transactions += len(step.Transactions)
	}
	switch {
	case len(c.Mixed) > 0:
		next, err = mixed(stream, mixedOptions{c.Requests * c.Together, c.Mixed, c.Seed})
	case c.Customers:
		next, err = customers(stream, customersOptions{c.Requests * c.Together, c.Targets, c.Scope, c.Seed})
	default:
		next = c.chooser(stream)
	}
	if err != nil {
		return about, nil, err
	}
	began := time.Now()
	if err := d.feed(ctx, stream, c.Fed); err != nil {
		return about, nil, err
	}
	fmt.Fprintf(os.Stderr, "%s: trained through in %.1f s\n", stream.Name, time.Since(began).Seconds())
	return about, next, nil
}

// profile writes a profile of the processor until it is stopped.
func profile(path string) (stop func() error, err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// chooser returns what draws the targets of a request: transactions, each once.
func (c *runCmd) chooser(stream *dataset.Stream) func() drawn {
	steps := stream.Steps
	if c.Age >= 0 {
		at := max(0, len(steps)-1-c.Age)
		steps = steps[at : at+1]
	}
	var ids []lethe.TransactionID
	for _, step := range steps {
		for _, t := range step.Transactions {
			ids = append(ids, t.ID)
		}
	}
	draw := lethe.NewDraw(c.Seed, "benchmark-erasures")
	return func() drawn {
		own := make([]lethe.TransactionID, c.Targets)
		for i := range own {
			at := draw.IntN(len(ids))
			own[i] = ids[at]
			ids[at] = ids[len(ids)-1]
			ids = ids[:len(ids)-1]
		}
		return drawn{targets: lethe.Transactions(own...), scope: c.Scope, transactions: c.Targets}
	}
}
