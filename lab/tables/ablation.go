package tables

import (
	"fmt"

	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// ablation is a table on Cora with three models: methods and models down, the
// choices compared across.
type ablation struct {
	key              string
	methods, columns []string
	cell             func(o Options, m model, how method, column string, seed uint64) protocol.Settings
	// reading names the aggregation that is read.
	reading func(how method, column string) string
}

func (a ablation) table(name, title string) Table {
	return Table{
		Name: name, Title: title + " on Cora", Needs: []string{bench.Cora}, Cells: a.cells,
		Render: func(o Options, r *Results) (*Output, error) { return a.render(o, r, title) },
	}
}

func (a ablation) at(o Options, m model, how method, column string, seed uint64) bench.Cell {
	s := a.cell(o, m, how, column, seed)
	return bench.Cell{Dataset: bench.Cora, Graph: &s}
}

func (a ablation) cells(o Options) []bench.Cell {
	var out []bench.Cell
	for _, name := range a.methods {
		for _, m := range o.models([]string{"SAGE", "GIN", "GAT"}) {
			for _, column := range a.columns {
				for _, seed := range o.seeds() {
					out = append(out, a.at(o, m, methodNamed(name), column, seed))
				}
			}
		}
	}
	return out
}

func (a ablation) render(o Options, r *Results, title string) (*Output, error) {
	t := &report.Table{Title: title + " on Cora, test nodes (%)",
		Columns: append([]string{"method", "model"}, a.columns...)}
	data := &report.Table{Title: title, Columns: []string{"method", "model", "choice", "seed", "test_accuracy",
		"all_accuracy", "paper"}}
	var missing absences
	for _, name := range a.methods {
		how := methodNamed(name)
		for _, m := range o.models([]string{"SAGE", "GIN", "GAT"}) {
			cells := []string{name, m.name}
			for _, column := range a.columns {
				published, known := r.Paper.Value(paper.Key{Table: a.key, Dataset: bench.Cora, Model: m.name,
					Method: name + " " + column})
				var sample report.Sample
				for _, seed := range o.seeds() {
					result, err := r.Get(a.at(o, m, how, column, seed))
					if err != nil {
						if err = missing.add(bench.Cora, err); err != nil {
							return nil, err
						}
						continue
					}
					reading, ok := result.Outcome.Reading(a.reading(how, column), false)
					if !ok {
						return nil, fmt.Errorf("%s, %s, %s: the finished cell lacks a reading", name, m.name, column)
					}
					sample = append(sample, reading.Test.Accuracy)
					row(data, name, m.name, column, fmt.Sprint(seed), report.Number(reading.Test.Accuracy, 4),
						report.Number(reading.AllNodes, 4), paperText(published, known))
				}
				cells = append(cells, beside(sample.Percent(), published, known))
			}
			t.Rows = append(t.Rows, cells)
		}
	}
	t.Note("In brackets what the paper prints; it has no rows for methods other than GUIDE.")
	missing.note(t)
	o.note(t)
	return &Output{Tables: []*report.Table{t}, Data: data}, nil
}
