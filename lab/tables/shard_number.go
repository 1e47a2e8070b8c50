package tables

import (
	"fmt"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// shardNumber is the paper's sensitivity to the number of shards. The paper
// shows CS; lethe takes the graphs that are there, with SAGE.
func shardNumber() Table {
	return Table{
		Name: "shard-number", Title: "Sensitivity to the number of shards", Needs: bench.Citations(),
		Cells: sensitivityCells, Render: renderSensitivity,
	}
}

// shardNumbers are the numbers tried.
func (o Options) shardNumbers(dataset string) []int {
	switch {
	case o.Quick:
		return []int{3, 5}
	case shardsOf(dataset) == 100:
		return []int{10, 20, 40, 60, 80, 100}
	default:
		return []int{5, 10, 20, 40, 60}
	}
}

func (o Options) sensitivityMethods() []method {
	if o.Quick {
		return []method{methodNamed(random), methodNamed(own)}
	}
	return sharded()
}

func (o Options) sensitivityCell(dataset string, m method, shards int) func(seed uint64) bench.Cell {
	return func(seed uint64) bench.Cell {
		s := o.settings(dataset, modelsNamed("SAGE")[0], m, seed)
		s.Shards = shards
		return bench.Cell{Dataset: dataset, Graph: &s}
	}
}

func sensitivityCells(o Options) []bench.Cell {
	var out []bench.Cell
	for _, dataset := range o.citations() {
		for _, m := range o.sensitivityMethods() {
			for _, shards := range o.shardNumbers(dataset) {
				for _, seed := range o.seeds() {
					out = append(out, o.sensitivityCell(dataset, m, shards)(seed))
				}
			}
		}
	}
	return out
}

func renderSensitivity(o Options, r *Results) (*Output, error) {
	t := &report.Table{
		Title:   "Sensitivity to the number of shards, SAGE",
		Columns: []string{"data set", "method", "shards", "test nodes (%)", "balance", "fairness", "edges cut"},
	}
	out := &Output{Tables: []*report.Table{t}, Data: t}
	var missing absences
	for _, dataset := range o.citations() {
		figures := []*report.Figure{
			{Title: "Accuracy by number of shards, " + dataset, X: "shards", Y: "test accuracy (%)"},
			{Title: "Balance by number of shards, " + dataset, X: "shards", Y: "balance"},
			{Title: "Fairness by number of shards, " + dataset, X: "shards", Y: "fairness"},
		}
		for _, m := range o.sensitivityMethods() {
			for _, f := range figures {
				f.Lines = append(f.Lines, report.Line{Name: m.name})
			}
			for _, shards := range o.shardNumbers(dataset) {
				outcomes, err := shapes(r, o.seeds(), o.sensitivityCell(dataset, m, shards))
				if err != nil {
					if err = missing.add(dataset, err); err != nil {
						return nil, err
					}
				}
				test := sampleOf(outcomes, func(o *protocol.Outcome) float64 {
					reading, _ := o.Reading(m.aggregate, m.propagated)
					return reading.Test.Accuracy
				})
				even := sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.Balance })
				fair := sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.Fairness })
				cut := sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.EdgeCut })
				row(t, dataset, m.name, fmt.Sprint(shards), test.Percent(), even.Text(4), fair.Text(4), cut.Text(3))
				for i, y := range []float64{100 * test.Mean(), even.Mean(), fair.Mean()} {
					line := &figures[i].Lines[len(figures[i].Lines)-1]
					line.X, line.Y = append(line.X, float64(shards)), append(line.Y, y)
				}
			}
		}
		for i, name := range []string{"-accuracy", "-balance", "-fairness"} {
			out.addFigure(dataset+name, figures[i])
		}
	}
	missing.note(t)
	o.note(t)
	return out, nil
}
