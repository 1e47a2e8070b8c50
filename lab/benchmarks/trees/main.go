// Command trees fits lethe's boosted trees and LightGBM's to the same rows with the
// same settings, taking turns in one run with one thread each, and compares accuracy,
// fitting time and prediction time.
//
//	python3 -m venv venv && venv/bin/pip install -r lab/benchmarks/trees/requirements.txt
//	LETHE_DATA=data go run ./lab/benchmarks/trees -python venv/bin/python
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	python := flag.String("python", "python3", "interpreter that has lightgbm")
	seeds := flag.Int("seeds", 5, "how many fits per side, each with another seed")
	data := flag.String("data", os.Getenv("LETHE_DATA"), "folder with bitcoin-otc/elliptic-format; empty leaves it out")
	bins := flag.Int("bins", 255, "bins per feature on both sides")
	only := flag.String("only", "", "the one problem to run, of generated and Bitcoin-OTC")
	flag.Parse()
	if err := run(*python, *data, *only, *seeds, *bins); err != nil {
		fmt.Fprintln(os.Stderr, "trees:", err)
		os.Exit(1)
	}
}

func run(python, data, only string, seeds, bins int) error {
	if seeds < 1 {
		return fmt.Errorf("seeds is %d, want at least 1", seeds)
	}
	s := settings{Rounds: 300, Leaves: 15, Rate: .05, FeatureShare: .3, RowShare: .8, Bins: bins}
	fmt.Printf("%d rounds, %d leaves, rate %g, %g of the features, %g of the rows, %d bins, one thread\n",
		s.Rounds, s.Leaves, s.Rate, s.FeatureShare, s.RowShare, s.Bins)
	fmt.Printf("AUC: mean of %d seeds; seconds of processor time: medians\n", seeds)
	for _, make := range []struct {
		name string
		rows func() (problem, error)
	}{
		{"generated", generated},
		{"Bitcoin-OTC", func() (problem, error) { return bitcoinOTC(context.Background(), data) }},
	} {
		if only != "" && !strings.EqualFold(only, make.name) || make.name != "generated" && data == "" {
			continue
		}
		p, err := make.rows()
		if err != nil {
			return err
		}
		if err := compare(python, p, s, seeds); err != nil {
			return err
		}
	}
	return nil
}
