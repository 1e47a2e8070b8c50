package tables

import (
	"fmt"
	"slices"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
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
			t := &report.Table{Title: title + ", nodes per shard", Columns: []string{"data set", "method", "smallest", "quarter",
				"median", "three quarters", "largest"}}
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
