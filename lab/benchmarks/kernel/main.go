// Command kernel times one new timestep against the stored slices of 49
// timesteps in 20 shards: its eigenvectors, its histogram and 980 normalised
// kernel values, by lethe and by GraKeL's PyramidMatch on the same graphs, taking
// turns in one run.
//
//	python3 -m venv venv && venv/bin/pip install -r lab/benchmarks/kernel/requirements.txt
//	go run ./lab/benchmarks/kernel -python venv/bin/python
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"lethe/scoring/similarity"
)

// The shape of Elliptic: 203,769 transactions and 234,355 payments in 49
// timesteps.
const (
	timesteps = 49
	shards    = 20
	nodes     = 4159
	payments  = 4783
)

func main() {
	python := flag.String("python", "python3", "interpreter that has grakel")
	rounds := flag.Int("rounds", 9, "how often each side is timed")
	flag.Parse()
	if err := run(*python, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1)
	}
}

func run(python string, rounds int) error {
	if rounds < 1 {
		return fmt.Errorf("rounds is %d, want at least 1", rounds)
	}
	graphs := make([]graph, 0, timesteps*shards+1)
	for t := range uint64(timesteps) {
		graphs = append(graphs, deal(grow(t), t)...)
	}
	graphs = append(graphs, grow(timesteps))
	stored := make([]*similarity.Histogram, timesteps*shards)
	for i := range stored {
		var err error
		if stored[i], err = graphs[i].histogram(); err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stderr, "GraKeL embeds the stored slices, which takes a minute or more")
	other, err := startGraKeL(python, graphs)
	if err != nil {
		return err
	}
	defer other.stop()
	var whole, compared, theirs []time.Duration
	for range rounds {
		w, c, err := ours(graphs[len(graphs)-1], stored)
		if err != nil {
			return err
		}
		o, err := other.time()
		if err != nil {
			return err
		}
		whole, compared, theirs = append(whole, w), append(compared, c), append(theirs, o)
	}
	fmt.Printf("one timestep of %d nodes against %d slices, medians of %d rounds\n", nodes, len(stored), rounds)
	fmt.Printf("lethe   %v, of which %v for the %d comparisons\n", median(whole), median(compared), len(stored))
	fmt.Printf("GraKeL  %v\n", median(theirs))
	fmt.Printf("ratio   %.1f\n", median(theirs).Seconds()/median(whole).Seconds())
	return nil
}

// ours times lethe: all of it, and the comparisons alone.
func ours(timestep graph, stored []*similarity.Histogram) (whole, compared time.Duration, err error) {
	start := time.Now()
	scored, err := timestep.histogram()
	if err != nil {
		return 0, 0, err
	}
	between := time.Now()
	for _, slice := range stored {
		if _, err := similarity.Normalised(scored, slice); err != nil {
			return 0, 0, err
		}
	}
	return time.Since(start), time.Since(between), nil
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2].Round(time.Microsecond)
}
