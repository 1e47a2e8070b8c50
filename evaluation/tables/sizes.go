package tables

import (
	"fmt"
	"slices"

	"lethe/evaluation/bench"
	"lethe/evaluation/protocol"
	"lethe/evaluation/report"
)

// shardSizes is the paper's figure of how shard sizes are distributed.
func shardSizes() Table {
	const title = "Distribution of shard sizes"
	cell := func(o Options, dataset string, how method) func(uint64) bench.Cell {
		return func(seed uint64) bench.Cell { return o.partitionCell(dataset, how, 0.8, shardsOf(dataset), seed) }
	}
	return Table{
		Name: "shard-sizes", Title: title, Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell {
			out := eachPartition(o, cell)
			return slices.DeleteFunc(out, func(c bench.Cell) bool { return slices.Contains(bench.Streams(), c.Dataset) })
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title + ", nodes per shard", Columns: []string{"data set", "method", "smallest", "quarter", "median", "three quarters", "largest"}}
			out := &Output{Tables: []*report.Table{t}, Data: t}
			var missing absences
			for _, dataset := range o.citations() {
				f := &report.Figure{Title: "Shard sizes, " + dataset, X: "shard, smallest first", Y: "nodes"}
				for _, how := range sharded() {
					outcomes, err := shapes(r, o.seeds(), cell(o, dataset, how))
					if err != nil {
						if err = missing.add(dataset, err); err != nil {
							return nil, err
						}
					}
					sizes := pooledSizes(outcomes)
					cells := []string{dataset, how.name}
					for q := range 5 {
						if len(sizes) > 0 {
							cells = append(cells, fmt.Sprint(sizes[q*(len(sizes)-1)/4]))
						}
					}
					t.Add(cells...)
					line := report.Line{Name: how.name}
					if len(outcomes) > 0 {
						for i, size := range slices.Sorted(slices.Values(outcomes[0].Shape.Sizes)) {
							line.X, line.Y = append(line.X, float64(i+1)), append(line.Y, float64(size))
						}
					}
					f.Lines = append(f.Lines, line)
				}
				out.addFigure(dataset, f)
			}
			t.Note("Quartiles over the shards of all splits; the figures show the first split.")
			missing.note(t)
			o.note(t)
			return out, nil
		},
	}
}

// pooledSizes sorts the shard sizes of all splits.
func pooledSizes(outcomes []*protocol.Outcome) []int {
	var out []int
	for _, o := range outcomes {
		out = append(out, o.Shape.Sizes...)
	}
	slices.Sort(out)
	return out
}

// shardNumber is the paper's sensitivity to the number of shards. The paper
// shows CS; lethe takes the graphs that are there, with SAGE.
func shardNumber() Table {
	const title = "Sensitivity to the number of shards"
	numbers := func(o Options, dataset string) []int {
		switch {
		case o.Quick:
			return []int{5, 20}
		case shardsOf(dataset) == 100:
			return []int{10, 20, 40, 60, 80, 100}
		default:
			return []int{5, 10, 20, 40, 60}
		}
	}
	how := func(o Options) []method {
		if o.Quick {
			return []method{methodNamed(random), methodNamed(own)}
		}
		return sharded()
	}
	cell := func(o Options, dataset string, m method, shards int) func(uint64) bench.Cell {
		return func(seed uint64) bench.Cell {
			s := o.settings(dataset, modelsNamed("SAGE")[0], m, seed)
			s.Shards = shards
			return bench.Cell{Dataset: dataset, Graph: &s}
		}
	}
	return Table{
		Name: "shard-number", Title: title, Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			for _, dataset := range o.citations() {
				for _, m := range how(o) {
					for _, shards := range numbers(o, dataset) {
						for _, seed := range o.seeds() {
							out = append(out, cell(o, dataset, m, shards)(seed))
						}
					}
				}
			}
			return out
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title + ", SAGE", Columns: []string{"data set", "method", "shards", "test nodes (%)", "balance", "fairness", "edges cut"}}
			out := &Output{Tables: []*report.Table{t}, Data: t}
			var missing absences
			for _, dataset := range o.citations() {
				accuracy := &report.Figure{Title: "Accuracy by number of shards, " + dataset, X: "shards", Y: "test accuracy (%)"}
				balance := &report.Figure{Title: "Balance by number of shards, " + dataset, X: "shards", Y: "balance"}
				fairness := &report.Figure{Title: "Fairness by number of shards, " + dataset, X: "shards", Y: "fairness"}
				for _, m := range how(o) {
					a, b, c := report.Line{Name: m.name}, report.Line{Name: m.name}, report.Line{Name: m.name}
					for _, shards := range numbers(o, dataset) {
						outcomes, err := shapes(r, o.seeds(), cell(o, dataset, m, shards))
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
						row(t, dataset, m.name, fmt.Sprint(shards), test.Percent(), even.Text(4), fair.Text(4),
							sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.EdgeCut }).Text(3))
						x := float64(shards)
						a.X, a.Y = append(a.X, x), append(a.Y, 100*test.Mean())
						b.X, b.Y = append(b.X, x), append(b.Y, even.Mean())
						c.X, c.Y = append(c.X, x), append(c.Y, fair.Mean())
					}
					accuracy.Lines, balance.Lines, fairness.Lines = append(accuracy.Lines, a), append(balance.Lines, b), append(fairness.Lines, c)
				}
				out.addFigure(dataset+"-accuracy", accuracy)
				out.addFigure(dataset+"-balance", balance)
				out.addFigure(dataset+"-fairness", fairness)
			}
			missing.note(t)
			o.note(t)
			return out, nil
		},
	}
}
