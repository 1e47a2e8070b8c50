package tables

import (
	"errors"
	"fmt"
	"slices"

	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/report"
)

// Options say how thoroughly to measure.
type Options struct {
	// Splits is the number of repetitions, seeds Seed, Seed+1 and so on.
	Splits int
	Seed   uint64
	// Quick shortens training and leaves out data sets and models, to see that
	// all works. Its figures mean little and say so.
	Quick bool
}

// Table is a table of the evaluation.
type Table struct {
	// Name is what the command line calls it, Title what it shows.
	Name, Title string
	// Needs lists the data sets it knows; those that are absent are named in
	// the output.
	Needs []string
	// Cells lists what it needs measured.
	Cells func(Options) []bench.Cell
	// Render prints what was measured.
	Render func(Options, *Results) (*Output, error)
}

// Results is what Render may draw on.
type Results struct {
	*bench.Results
	Paper *paper.Paper
}

// Output is a finished table.
type Output struct {
	// Tables are for reading, the first is the paper's.
	Tables []*report.Table
	// Data has one row per figure, for programs.
	Data *report.Table
	// Figures are by name.
	Figures []NamedFigure
}

// NamedFigure is a figure with the end of its file name; empty for a table's
// only figure.
type NamedFigure struct {
	Name string
	*report.Figure
}

// All returns the tables in the order of the paper.
func All() []Table {
	return []Table{
		inductive(), labels(), shardModels(), transductive(), transductiveShared(), sgc(), mlp(), repairs(), aggregation(),
		embedding(),
		partitionTimes(), partitionScores(), shardSizes(), shardNumber(), unlearning(), streams(), membership(),
		graphMembership(),
	}
}

// Named returns tables by name, or all for "all".
func Named(name string) ([]Table, error) {
	all := All()
	if name == "all" {
		return all, nil
	}
	i := slices.IndexFunc(all, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no table %q", name)
	}
	return all[i : i+1], nil
}

// citations are the data sets of a table on graphs.
func (o Options) citations() []string {
	if o.Quick {
		return []string{bench.Cora}
	}
	return bench.Citations()
}

// models are those of a table; a quick run takes the first two.
func (o Options) models(names []string) []model {
	if o.Quick {
		names = names[:min(2, len(names))]
	}
	return modelsNamed(names...)
}

// seeds lists one seed per split.
func (o Options) seeds() []uint64 {
	out := make([]uint64, o.Splits)
	for i := range out {
		out[i] = o.Seed + uint64(i)
	}
	return out
}

// quickEpochs are enough to see that all works.
const quickEpochs = 10

// epochs is how many a full run takes, or few.
func (o Options) epochs(full int) int {
	if o.Quick {
		return quickEpochs
	}
	return full
}

// note prints what every table says of its making.
func (o Options) note(t *report.Table) {
	if o.Quick {
		t.Note("A quick run: %d epochs, 5 shards, few data sets and models, streams cut short. It shows that all works; "+
			"its figures mean little.", quickEpochs)
	}
	last := o.Seed + uint64(o.Splits) - 1
	if o.Splits == 1 {
		t.Note("1 split, seed %d.", o.Seed)
		return
	}
	t.Note("%d splits, seeds %d to %d; ± is the standard deviation over them.", o.Splits, o.Seed, last)
}

// absences collects why figures are missing, each reason once.
type absences []string

// add notes a reason; other errors are returned.
func (a *absences) add(dataset string, err error) error {
	if !errors.Is(err, bench.ErrAbsent) {
		return err
	}
	text := fmt.Sprintf("%s: %v.", dataset, err)
	if !slices.Contains(*a, text) {
		*a = append(*a, text)
	}
	return nil
}

func (a absences) note(t *report.Table) { t.Notes = append(t.Notes, a...) }
