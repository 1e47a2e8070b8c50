package tables

import (
	"fmt"
	"slices"

	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// partitionSettings are those of a cell that only partitions.
func (o Options) partitionCell(dataset string, how method, fraction float64, shards int, seed uint64) bench.Cell {
	applied := protocol.Defaults("none")
	applied.Shards = shards
	how.apply(&applied)
	// Nothing of training tells cells apart.
	s := protocol.Defaults("none")
	s.Shards, s.Partition, s.TrainFraction, s.Seed = applied.Shards, applied.Partition, fraction, seed
	return bench.Cell{Dataset: dataset, Partition: &bench.PartitionCell{Settings: s}}
}

// all data sets that can be partitioned.
func (o Options) partitioned() []string {
	if o.Quick {
		return []string{bench.Cora}
	}
	return append(bench.Citations(), bench.Streams()...)
}

// shapes collects the shapes of a cell over the splits.
func shapes(r *Results, seeds []uint64, cell func(seed uint64) bench.Cell) ([]*protocol.Outcome, error) {
	var out []*protocol.Outcome
	for _, seed := range seeds {
		result, err := r.Get(cell(seed))
		if err != nil {
			return nil, err
		}
		out = append(out, result.Outcome)
	}
	return out, nil
}

// sampleOf picks a figure out of every outcome.
func sampleOf(outcomes []*protocol.Outcome, pick func(*protocol.Outcome) float64) report.Sample {
	var out report.Sample
	for _, o := range outcomes {
		out = append(out, pick(o))
	}
	return out
}

// partitionTimes is the paper's table of seconds, with balance, fairness and cut.
func partitionTimes() Table {
	const title = "Partition time and quality"
	cell := func(o Options, dataset string, how method) func(uint64) bench.Cell {
		return func(seed uint64) bench.Cell { return o.partitionCell(dataset, how, 0.8, shardsOf(dataset), seed) }
	}
	paperName := map[string]string{eraserBLPA: "BLPA", eraserBEKM: "BEKM", guideFast: "GPFB-Fast", guideSR: "GPFB-SR"}
	return Table{
		Name: "partition-times", Title: title, Needs: append(bench.Citations(), bench.Streams()...),
		Cells: func(o Options) []bench.Cell { return eachPartition(o, cell) },
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title, Columns: []string{
				"data set", "method", "seconds", "balance", "fairness", "edges cut", "shards per erasure",
			}}
			var missing absences
			for _, dataset := range o.partitioned() {
				for _, how := range sharded() {
					outcomes, err := shapes(r, o.seeds(), cell(o, dataset, how))
					if err != nil {
						if err = missing.add(dataset, err); err != nil {
							return nil, err
						}
					}
					published, known := r.Paper.Value(paper.Key{Table: "partition-seconds", Dataset: dataset,
						Method: paperName[how.name]})
					text := sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.PartitionSeconds }).Text(3)
					if known {
						text += fmt.Sprintf(" (%.2f)", published.Mean)
					}
					row(t, dataset, how.name, text,
						sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.Balance }).Text(4),
						sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.Fairness }).Text(4),
						sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.EdgeCut }).Text(3),
						sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.ShardsPerErasure }).Text(2))
				}
			}
			t.Note("Graphs: that induced on 80 %% of the nodes. Streams: every timestep, seconds are sums and scores means. " +
				"In brackets the paper's seconds, on its own machine; BEKM's include a training there.")
			t.Note("Balance and fairness: 0 is best.")
			missing.note(t)
			o.note(t)
			return &Output{Tables: []*report.Table{t}, Data: t}, nil
		},
	}
}

func eachPartition(o Options, cell func(Options, string, method) func(uint64) bench.Cell) []bench.Cell {
	var out []bench.Cell
	for _, dataset := range o.partitioned() {
		for _, how := range sharded() {
			for _, seed := range o.seeds() {
				out = append(out, cell(o, dataset, how)(seed))
			}
		}
	}
	return out
}

// partitionScores is the paper's figure of balance + fairness on parts of each
// graph.
func partitionScores() Table {
	const title = "Partition scores on parts of each graph"
	fractions := []float64{0.2, 0.4, 0.6, 0.8}
	cell := func(o Options, dataset string, how method, fraction float64) func(uint64) bench.Cell {
		return func(seed uint64) bench.Cell {
			return o.partitionCell(dataset, how, fraction, shardsOf(dataset), seed)
		}
	}
	return Table{
		Name: "partition-scores", Title: title, Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			for _, fraction := range fractions {
				out = append(out, eachPartition(o, func(o Options, dataset string, how method) func(uint64) bench.Cell {
					return cell(o, dataset, how, fraction)
				})...)
			}
			return slices.DeleteFunc(out, func(c bench.Cell) bool { return slices.Contains(bench.Streams(), c.Dataset) })
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title + ": balance + fairness, 0 is best",
				Columns: []string{"data set", "method", "20 %", "40 %", "60 %", "80 %"}}
			out := &Output{Tables: []*report.Table{t}, Data: t}
			var missing absences
			for _, dataset := range o.citations() {
				f := &report.Figure{Title: "Partition scores, " + dataset, X: "nodes (%)", Y: "balance + fairness"}
				for _, how := range sharded() {
					cells, line := []string{dataset, how.name}, report.Line{Name: how.name}
					for _, fraction := range fractions {
						outcomes, err := shapes(r, o.seeds(), cell(o, dataset, how, fraction))
						if err != nil {
							if err = missing.add(dataset, err); err != nil {
								return nil, err
							}
						}
						sum := sampleOf(outcomes, func(o *protocol.Outcome) float64 { return o.Shape.Balance + o.Shape.Fairness })
						cells = append(cells, sum.Text(4))
						line.X, line.Y = append(line.X, 100*fraction), append(line.Y, sum.Mean())
					}
					t.Rows = append(t.Rows, cells)
					f.Lines = append(f.Lines, line)
				}
				out.addFigure(dataset, f)
			}
			missing.note(t)
			o.note(t)
			return out, nil
		},
	}
}

// addFigure keeps a figure that has something to show.
func (out *Output) addFigure(name string, f *report.Figure) {
	for _, line := range f.Lines {
		if slices.ContainsFunc(line.Y, func(y float64) bool { return y == y }) {
			out.Figures = append(out.Figures, NamedFigure{Name: name, Figure: f})
			return
		}
	}
}
