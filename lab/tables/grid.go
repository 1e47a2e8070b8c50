package tables

import (
	"fmt"
	"math"

	"lethe/lab/bench"
	"lethe/lab/networks"
	"lethe/lab/paper"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// grid is an accuracy table: data sets and models down, methods across.
type grid struct {
	// key is the table's name in the paper's values.
	key    string
	models []string
	// change makes the protocol another than the reference's, which trained on
	// the training nodes' graph alone and on row-normalised features.
	change func(*protocol.Settings)
}

// rows lists data sets and models.
func (g grid) each(o Options, visit func(dataset string, m model) error) error {
	for _, dataset := range o.citations() {
		for _, m := range o.models(g.models) {
			if err := visit(dataset, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g grid) cell(o Options, dataset string, m model, how method, seed uint64) bench.Cell {
	s := o.settings(dataset, m, how, seed)
	if g.change != nil {
		g.change(&s)
	}
	return bench.Cell{Dataset: dataset, Graph: &s}
}

func (g grid) cells(o Options) []bench.Cell {
	var out []bench.Cell
	_ = g.each(o, func(dataset string, m model) error {
		for _, how := range methods() {
			for _, seed := range o.seeds() {
				out = append(out, g.cell(o, dataset, m, how, seed))
			}
		}
		return nil
	})
	return out
}

// finished lists the seeds that all methods of a row are measured with, and why one
// is not among them.
func (g grid) finished(
	o Options, r *Results, dataset string, m model, columns []method,
) (seeds []uint64, absent error) {
	for _, seed := range o.seeds() {
		whole := true
		for _, how := range columns {
			if _, err := r.Get(g.cell(o, dataset, m, how, seed)); err != nil {
				whole, absent = false, err
			}
		}
		if whole {
			seeds = append(seeds, seed)
		}
	}
	return seeds, absent
}

// accuracy is one cell of the grid over the splits.
type accuracy struct {
	test, all, shards report.Sample
	// mean is that of the unweighted mean, which the reference used.
	mean, meanAll report.Sample
}

func (g grid) read(
	o Options, r *Results, dataset string, m model, how method, seeds []uint64,
) (accuracy, error) {
	var a accuracy
	for _, seed := range seeds {
		result, err := r.Get(g.cell(o, dataset, m, how, seed))
		if err != nil {
			return accuracy{}, err
		}
		reading, ok := result.Outcome.Reading(how.aggregate, how.propagated)
		plain, okMean := result.Outcome.Reading(protocol.AggregateMean, false)
		if !ok || !okMean {
			return accuracy{}, fmt.Errorf("%s, %s, %s: the finished cell lacks a reading", dataset, m.name, how.name)
		}
		a.test, a.all = append(a.test, reading.Test.Accuracy), append(a.all, reading.AllNodes)
		a.mean, a.meanAll = append(a.mean, plain.Test.Accuracy), append(a.meanAll, plain.AllNodes)
		a.shards = append(a.shards, result.Outcome.Shape.ShardsPerErasure)
	}
	return a, nil
}

func (g grid) render(o Options, r *Results, title string) (*Output, error) {
	columns := append([]string{"data set", "model"}, methodNames()...)
	test := &report.Table{Title: title + ", test nodes (%)", Columns: columns}
	all := &report.Table{Title: title + ", all nodes (%)", Columns: columns}
	data := &report.Table{Title: title, Columns: []string{
		"dataset", "model", "method", "split", "seed", "test_accuracy", "all_accuracy", "test_accuracy_mean_aggregation",
		"shards_per_erasure", "paper",
	}}
	against := newReferenceTable(title)
	scores := newScores(g.key)
	var missing absences
	var few fewer
	err := g.each(o, func(dataset string, m model) error {
		seeds, absent := g.finished(o, r, dataset, m, methods())
		if absent != nil {
			if err := missing.add(dataset, absent); err != nil {
				return err
			}
		}
		few.add(o, dataset, m.name, seeds)
		testRow, allRow := []string{dataset, m.name}, []string{dataset, m.name}
		for _, how := range methods() {
			a, err := g.read(o, r, dataset, m, how, seeds)
			if err != nil {
				return err
			}
			published, known := r.Paper.Value(paper.Key{Table: g.key, Dataset: dataset, Model: m.name, Method: how.name})
			testRow = append(testRow, beside(a.test.Percent(), published, known))
			allRow = append(allRow, beside(a.all.Percent(), published, known))
			scores.add(dataset, how.name, a)
			against.add(r.Paper, dataset, m, how.name, a)
			for i := range a.test {
				data.Add(dataset, m.name, how.name, fmt.Sprint(i), fmt.Sprint(seeds[i]), report.Number(a.test[i], 4),
					report.Number(a.all[i], 4), report.Number(a.mean[i], 4), report.Number(a.shards[i], 2),
					paperText(published, known))
			}
		}
		test.Rows, all.Rows = append(test.Rows, testRow), append(all.Rows, allRow)
		return nil
	})
	if err != nil {
		return nil, err
	}
	scores.rows(test, r.Paper)
	for _, t := range []*report.Table{test, all} {
		t.Note("In brackets what the paper prints. Its Scratch column fits accuracy over all nodes, the others that over " +
			"test nodes: compare within one table only.")
		missing.note(t)
		o.note(t)
		few.note(t)
	}
	test.Note("Settings: %s; lethe: quotas and swaps, MixUp, at least %d stubs per node (GIN %d), mean; + labels: known "+
		"labels propagated when scoring.",
		settingsText(o), protocol.GraphMinStubs(""), protocol.GraphMinStubs(networks.GIN))
	out := &Output{Tables: []*report.Table{test, all}, Data: data}
	if g.change == nil && against.total > 0 && !o.Quick {
		against.conclude()
		out.Tables = append(out.Tables, &against.Table)
	}
	return out, nil
}

// settingsText names what the paper's columns share.
func settingsText(o Options) string {
	return fmt.Sprintf("Adam, step .01 (SGC .1), weight decay 5e-4, %d epochs, last epoch, row-normalised features; "+
		"GUIDE: alpha .01, ten sweeps, MixUp; Fast ends in k-means, SR with beta 5 in quotas",
		o.epochs(protocol.Defaults("").Epochs))
}

// beside prints a figure with the paper's in brackets.
func beside(text string, v paper.Value, known bool) string {
	if !known {
		return text
	}
	return fmt.Sprintf("%s (%.1f)", text, v.Mean)
}

func paperText(v paper.Value, known bool) string {
	if !known {
		return ""
	}
	return fmt.Sprintf("%.2f", v.Mean)
}

// isNumber reports whether a sample has a mean.
func isNumber(s report.Sample) bool { return len(s) > 0 && !math.IsNaN(s.Mean()) }
