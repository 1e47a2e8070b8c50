package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lethe/partition/graph"
	"lethe/partition/scores"

	"lethe"
)

var errMetisOutput = errors.New("METIS wrote something else than expected")

// metis partitions a graph with METIS, direct k-way with its default imbalance
// of 3 % and a balance constraint per class that has nodes. The processor time is
// the one METIS reports for partitioning alone; the seconds on the clock hold
// reading and writing files too.
func (c *common) metis(ctx context.Context, g *graph.Graph, seed uint64) (row, error) {
	dir, err := os.MkdirTemp("", "metis")
	if err != nil {
		return row{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "graph")
	if err := writeMetis(path, g); err != nil {
		return row{}, fmt.Errorf("write the graph for METIS: %w", err)
	}
	var out bytes.Buffer
	// METIS numbers seeds in 32 bits.
	run := exec.CommandContext(ctx, c.Metis, fmt.Sprintf("-seed=%d", uint32(seed)>>1), path, strconv.Itoa(c.Shards))
	run.Stdout, run.Stderr = &out, os.Stderr
	started := time.Now()
	if err := run.Run(); err != nil {
		return row{}, fmt.Errorf("run %s: %w", c.Metis, err)
	}
	r := row{program: "METIS", seconds: time.Since(started).Seconds()}
	if r.processor, err = reported(out.String(), "Partitioning:"); err != nil {
		return row{}, err
	}
	if r.peakMiB, err = reported(out.String(), "Max memory used:"); err != nil {
		return row{}, err
	}
	a, err := readAssignment(fmt.Sprintf("%s.part.%d", path, c.Shards), g.N())
	if err != nil {
		return row{}, fmt.Errorf("read what METIS found: %w", err)
	}
	r.scores, err = scores.Of(g, a, c.Shards)
	return r, err
}

// writeMetis writes a graph in METIS' format: a line per node with its weight in
// every constraint and its neighbours, counted from 1.
func writeMetis(path string, g *graph.Graph) error {
	constraint, constraints := usedClasses(g)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "%d %d 010 %d\n", g.N(), g.NumEdges(), constraints)
	var line []byte
	for i := range g.N() {
		line = line[:0]
		for c := range constraints {
			one := int64(0)
			if constraint[g.Class(i)] == c {
				one = 1
			}
			line = append(strconv.AppendInt(line, one, 10), ' ')
		}
		for _, j := range g.Neighbors(i) {
			line = append(strconv.AppendUint(line, uint64(j)+1, 10), ' ')
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// usedClasses numbers the classes that have nodes: METIS divides by the total of
// a constraint.
func usedClasses(g *graph.Graph) (number []int, used int) {
	number = make([]int, g.NumClasses())
	seen := make([]bool, g.NumClasses())
	for i := range g.N() {
		if class := g.Class(i); !seen[class] {
			seen[class], number[class] = true, used
			used++
		}
	}
	return number, used
}

// reported returns the number after a caption of METIS' report.
func reported(report, caption string) (float64, error) {
	_, rest, _ := strings.Cut(report, caption)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("%w: no %q", errMetisOutput, caption)
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is followed by %q", errMetisOutput, caption, fields[0])
	}
	return value, nil
}

func readAssignment(path string, nodes int) (graph.Assignment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	a := make(graph.Assignment, 0, nodes)
	in := bufio.NewReader(f)
	for {
		var shard uint32
		switch _, err := fmt.Fscan(in, &shard); {
		case errors.Is(err, io.EOF):
			return a, nil
		case err != nil:
			return nil, err
		}
		a = append(a, lethe.ShardID(shard))
	}
}
