package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"lethe/internal/command"
	"lethe/internal/cputime"
	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/tables"
	"lethe/trainer/kernels"
)

type evaluateCmd struct {
	Table    string `arg:"" optional:"" help:"Table to make, or all; by default the tables are listed."`
	Data     string `help:"Folder with the data sets." type:"path" placeholder:"DIR"`
	Out      string `help:"Folder for tables, figures and finished measurements." type:"path" placeholder:"DIR"`
	Splits   int    `help:"Random splits to average over; ${paper_splits} by default, 1 with --quick." placeholder:"N"`
	Quick    bool   `help:"Train briefly on few data sets: shows in minutes that everything works."`
	Seed     uint64 `help:"Seed of the first split; the others have the numbers after it." default:"0"`
	Workers  int    `help:"Measurements in parallel; by default one per processor." placeholder:"N"`
	Finished bool   `help:"Measure nothing: make the tables from the measurements in --out."`
	Results  string `help:"${evaluate_results}" type:"path" placeholder:"FILE"`
	JSON     bool   `help:"Print one JSON document with the files written."`
}

// paperSplits is the number of random splits that the paper averages.
const paperSplits = 10

// Help shows an example.
func (evaluateCmd) Help() string {
	return `Example:
  lethe-lab evaluate all --data data --out results --splits 10
  lethe-lab evaluate inductive --data data --out results --quick

Each table is written as Markdown, CSV and figures. The data sets are cora.npz, citeseer.npz,
dblp.npz and cs.npz (or in planetoid/), and the folders elliptic_bitcoin_dataset and
bitcoin-otc/elliptic-format; a table names those that it did not find. Finished measurements are
kept in the file ` + bench.StoreFile + ` of --out: a run that was interrupted continues from it, and
--finished makes the tables from what it has so far, the rest counting as not run.`
}

type evaluateResult struct {
	Tables []evaluatedTable `json:"tables"`
	// Measured counts measurements, Kept those of them that were finished before.
	Measured int     `json:"measured"`
	Kept     int     `json:"kept"`
	Seconds  float64 `json:"seconds"`
}

type evaluatedTable struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Needs []string `json:"needs"`
	Files []string `json:"files,omitempty"`
}

// Run makes the tables.
func (c *evaluateCmd) Run(a *command.App) error {
	if c.Table == "" {
		return c.list(a)
	}
	chosen, err := tables.Named(c.Table)
	if err != nil {
		return command.Usagef("%w (lethe-lab evaluate lists them)", err)
	}
	if err := c.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	open := bench.OpenStore
	if c.Finished {
		open = bench.ReadStore
	}
	store, err := open(c.Out)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	started := time.Now()
	opts := tables.Options{Splits: c.Splits, Seed: c.Seed, Quick: c.Quick}
	result := &evaluateResult{}
	results, err := c.measure(a, store, chosen, opts, result)
	if err != nil {
		return err
	}
	if err := c.write(chosen, opts, results, result); err != nil {
		return err
	}
	result.Seconds = time.Since(started).Seconds()
	if c.JSON {
		return a.PrintJSON(result)
	}
	for _, t := range result.Tables {
		fmt.Fprintf(a.Stdout, "%s: %s\n", t.Title, strings.Join(t.Files, ", "))
	}
	return nil
}

// list names the tables and what they need.
func (c *evaluateCmd) list(a *command.App) error {
	result := &evaluateResult{}
	rows := [][]string{{"table", "shows", "data sets"}}
	for _, t := range tables.All() {
		result.Tables = append(result.Tables, evaluatedTable{Name: t.Name, Title: t.Title, Needs: t.Needs})
		rows = append(rows, []string{t.Name, t.Title, strings.Join(t.Needs, ", ")})
	}
	if c.JSON {
		return a.PrintJSON(result)
	}
	return command.Table(a.Stdout, rows)
}

func (c *evaluateCmd) check() error {
	switch {
	case c.Data == "":
		return command.Usagef("--data is missing: name the folder with the data sets")
	case c.Out == "":
		return command.Usagef("--out is missing: name a folder for the tables")
	case c.Splits < 0:
		return command.Usagef("--splits is %d, must be at least 1", c.Splits)
	case c.Workers < 0:
		return command.Usagef("--workers is %d, must be at least 1", c.Workers)
	}
	if info, err := os.Stat(c.Data); err != nil || !info.IsDir() {
		return fmt.Errorf("--data %s is not a folder", c.Data)
	}
	if c.Splits == 0 {
		c.Splits = paperSplits
		if c.Quick {
			c.Splits = 1
		}
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

// measure runs what the tables need, what they share once.
func (c *evaluateCmd) measure(
	a *command.App, store *bench.Store, chosen []tables.Table, opts tables.Options, result *evaluateResult,
) (*tables.Results, error) {
	published, err := paper.Load()
	if err != nil {
		return nil, err
	}
	var cells []bench.Cell
	for _, t := range chosen {
		cells = append(cells, t.Cells(opts)...)
	}
	line := command.NewProgress(a.Stderr)
	runner := &bench.Runner{
		Data: bench.NewData(c.Data), Store: store, Kernels: kernels.Default(), Workers: c.Workers, OnlyFinished: c.Finished,
		Now: time.Now, Used: cputime.Used,
		Progress: func(p bench.Progress) {
			result.Measured, result.Kept = p.Total, p.Kept
			if p.Done == p.Kept {
				line.Show("%d of %d measurements are finished already", p.Kept, p.Total)
				return
			}
			line.Show("%d of %d measurements, %s left; last: %s", p.Done, p.Total, p.Left.Round(time.Second), p.Last)
		},
	}
	measured, err := runner.Run(a.Context, cells)
	if err != nil {
		return nil, err
	}
	line.Done("%d measurements", result.Measured)
	return &tables.Results{Results: measured, Paper: published}, nil
}

// write renders the tables into files.
func (c *evaluateCmd) write(
	chosen []tables.Table, opts tables.Options, results *tables.Results, result *evaluateResult,
) error {
	document := c.document()
	for _, t := range chosen {
		output, err := t.Render(opts, results)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		files, err := output.Write(c.Out, t.Name)
		if err != nil {
			return err
		}
		result.Tables = append(result.Tables, evaluatedTable{Name: t.Name, Title: t.Title, Needs: t.Needs, Files: files})
		if c.Finished && !results.Any(t.Cells(opts)) {
			document.missing(t.Name)
			continue
		}
		document.add(output, t.Name)
	}
	if c.Results == "" {
		return nil
	}
	if err := document.save(c.Results); err != nil {
		return fmt.Errorf("--results: %w", err)
	}
	return nil
}
