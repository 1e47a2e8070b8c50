package tables

import (
	"fmt"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// labelled is a column of the table of known labels: a method, and whether they are
// propagated over its answers.
type labelled struct {
	name, method, aggregate string
	propagated              bool
}

// alone is propagation without a model. It is measured beside Scratch.
const alone = "labels alone"

// labelMethods are the methods that the columns are of.
func labelMethods() []method {
	return []method{methodNamed(scratch), methodNamed(random), methodNamed(own)}
}

func labelColumns() []labelled {
	out := make([]labelled, 0, 7)
	for _, how := range labelMethods() {
		name := how.name
		out = append(out, labelled{name, name, protocol.AggregateMean, false},
			labelled{name + " + labels", name, protocol.AggregateMean, true})
	}
	return append(out, labelled{alone, scratch, protocol.AggregateNone, true})
}

// labels tells what of "lethe + labels" is the labels' doing: they are propagated over
// the answers of one model and of random shards too, and without any model.
func labels() Table {
	const title = "Known labels propagated"
	g := grid{
		models: []string{"SAGE", "GIN", "GAT"},
		change: func(s *protocol.Settings) { s.Propagate = true },
	}
	return Table{
		Name: "labels", Title: title, Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			_ = g.each(o, func(dataset string, m model) error {
				for _, how := range labelMethods() {
					for _, seed := range o.seeds() {
						out = append(out, g.cell(o, dataset, m, how, seed))
					}
				}
				return nil
			})
			return out
		},
		Render: func(o Options, r *Results) (*Output, error) { return g.renderLabels(o, r, title) },
	}
}

func (g grid) renderLabels(o Options, r *Results, title string) (*Output, error) {
	t := &report.Table{Title: title + ", test nodes (%)", Columns: []string{"data set", "model", "splits"}}
	for _, c := range labelColumns() {
		t.Columns = append(t.Columns, c.name)
	}
	data := &report.Table{Title: title, Columns: []string{"dataset", "model", "method", "seed", "test_accuracy"}}
	var missing absences
	err := g.each(o, func(dataset string, m model) error {
		seeds, absent := g.finished(o, r, dataset, m, labelMethods())
		if absent != nil {
			if err := missing.add(dataset, absent); err != nil {
				return err
			}
		}
		cells := []string{dataset, m.name, fmt.Sprint(len(seeds))}
		for _, c := range labelColumns() {
			var sample report.Sample
			for _, seed := range seeds {
				result, err := r.Get(g.cell(o, dataset, m, methodNamed(c.method), seed))
				if err != nil {
					return err
				}
				reading, ok := result.Outcome.Reading(c.aggregate, c.propagated)
				if !ok {
					return fmt.Errorf("%s, %s, %s: the finished cell lacks a reading", dataset, m.name, c.name)
				}
				sample = append(sample, reading.Test.Accuracy)
				row(data, dataset, m.name, c.name, fmt.Sprint(seed), report.Number(reading.Test.Accuracy, 4))
			}
			cells = append(cells, sample.Percent())
		}
		t.Rows = append(t.Rows, cells)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.Note("+ labels: Correct & Smooth with the training nodes' labels when scoring; %s: the same from the shares of "+
		"the classes, without a model. Training nodes enter with what models say that never saw their label: the "+
		"other shards, and in place of Scratch models that were trained without a fifth of the labels.", alone)
	t.Note("Shards and repair as in the first table: Random without repair.")
	t.Note("Splits are the seeds from %d on that all columns are measured with; ± is the standard deviation over them.",
		o.Seed)
	missing.note(t)
	if o.Quick {
		o.note(t)
	}
	return &Output{Tables: []*report.Table{t}, Data: data}, nil
}
