package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// renderCmd makes tables and figures.
type renderCmd struct {
	Rows    []string `arg:"" type:"existingfile" help:"Files that run has written with --rows."`
	Figures string   `placeholder:"DIR" help:"Draw erasure-batch.svg and erasure-age.svg there."`
}

// Run prints the tables as Markdown.
func (c *renderCmd) Run() error {
	rows, err := readRows(c.Rows)
	if err != nil {
		return err
	}
	if c.Figures != "" {
		if err := drawFigures(c.Figures, rows); err != nil {
			return err
		}
	}
	return writeTables(os.Stdout, rows)
}

// group are the rounds of one kind.
type group []row

// kind is a row without what was measured.
func kind(r row) row {
	return row{
		Data: r.Data, Transactions: r.Transactions, Timesteps: r.Timesteps, Features: r.Features,
		Together: r.Together, Targets: r.Targets, Scope: r.Scope, Age: r.Age, Customers: r.Customers,
	}
}

// groups puts the rounds of a kind together, in the order in which the kinds come.
func groups(rows []row) (out []group) {
	for _, r := range rows {
		at := slices.IndexFunc(out, func(g group) bool { return kind(g[0]) == kind(r) })
		if at < 0 {
			at, out = len(out), append(out, nil)
		}
		out[at] = append(out[at], r)
	}
	return out
}

// sorted are the values of something, ascending.
func (g group) sorted(of func(row) float64) []float64 {
	var values []float64
	for _, r := range g {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values
}

// median is the upper one.
func (g group) median(of func(row) float64) float64 {
	values := g.sorted(of)
	return values[len(values)/2]
}

func (g group) worst(of func(row) float64) float64 { return slices.Max(g.sorted(of)) }

// share is the processor time to swapped in proportion to that of training all again, in percent.
func share(r row) float64 { return 100 * r.ProcessorSwapped / r.Anew }

// writeTables prints a table, each group in a row: medians, and the worst in brackets.
func writeTables(w io.Writer, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := fmt.Fprint(w, "| data | erased | rounds | shards | suppressed | swapped | erased | verified "+
		"| processor to swapped | of training all anew | processor to verified |\n"+
		"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, g := range groups(rows) {
		if err == nil {
			_, err = fmt.Fprintln(w, g.line())
		}
	}
	return err
}

// line is a group's row.
func (g group) line() string {
	r := g[0]
	what := fmt.Sprintf("%d × %d, %s", r.Together, r.Targets, r.Scope)
	if r.Customers {
		what += ", customers"
	}
	if r.Age >= 0 {
		what += ", age " + strconv.Itoa(r.Age)
	}
	cell := func(format string, of func(row) float64) string {
		return fmt.Sprintf(format+" ("+format+")", g.median(of), g.worst(of))
	}
	anew := ""
	if r.Anew > 0 {
		anew = fmt.Sprintf("%s of %.1f s", cell("%.1f %%", share), r.Anew)
	}
	return fmt.Sprintf("| %s, %d × %d | %s | %d | %s | %s s | %s s | %s s | %s s | %s s | %s | %s s |",
		r.Data, r.Transactions, r.Features, what, len(g),
		cell("%.0f", func(r row) float64 { return float64(r.Shards) }),
		cell("%.3f", func(r row) float64 { return r.Suppressed }), cell("%.2f", func(r row) float64 { return r.Swapped }),
		cell("%.2f", func(r row) float64 { return r.Erased }), cell("%.1f", func(r row) float64 { return r.Verified }),
		cell("%.2f", func(r row) float64 { return r.ProcessorSwapped }), anew,
		cell("%.1f", func(r row) float64 { return r.ProcessorVerified }))
}
