package tables

import (
	"fmt"

	"lethe"
	"lethe/evaluation/bench"
	"lethe/evaluation/report"
)

// unlearning is the paper's figures of batch unlearning time and of the time per
// shard. lethe erases at scope stubs, which touches every shard that holds a
// stub for a forgotten node; the others at the paper's scope, the node's own
// shard.
func unlearning() Table {
	const title = "Batch unlearning time"
	batches := func(o Options) []int {
		if o.Quick {
			return []int{1, 20}
		}
		return []int{1, 5, 10, 20, 50, 100, 200}
	}
	columns := func() []method { return methods()[:len(methods())-1] }
	scopeOf := func(m method) lethe.Scope {
		if m.name == own {
			return lethe.ScopeStubs
		}
		return lethe.ScopeShard
	}
	cell := func(o Options, dataset string, m method, batch int) bench.Cell {
		s := o.settings(dataset, modelsNamed("SAGE")[0], m, o.Seed)
		s.Aggregate, s.Propagate = []string{m.aggregate}, false
		return bench.Cell{Dataset: dataset, Unlearn: &bench.UnlearnCell{Settings: s, Batch: batch, Scope: scopeOf(m)}}
	}
	return Table{
		Name: "unlearning", Title: title, Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			for _, dataset := range o.citations() {
				for _, m := range columns() {
					for _, batch := range batches(o) {
						out = append(out, cell(o, dataset, m, batch))
					}
				}
			}
			return out
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title + ", SAGE", Columns: []string{
				"data set", "method", "scope", "nodes", "shards", "seconds", "of them aggregation", "seconds per shard",
			}}
			out := &Output{Tables: []*report.Table{t}, Data: t}
			var missing absences
			for _, dataset := range o.citations() {
				whole := &report.Figure{Title: "Batch unlearning time, " + dataset, X: "nodes to forget", Y: "seconds", LogX: true}
				each := &report.Figure{Title: "Unlearning time per shard, " + dataset, X: "nodes to forget", Y: "seconds per shard", LogX: true}
				for _, m := range columns() {
					a, b := report.Line{Name: m.name}, report.Line{Name: m.name}
					for _, batch := range batches(o) {
						result, err := r.Get(cell(o, dataset, m, batch))
						if err != nil {
							if err = missing.add(dataset, err); err != nil {
								return nil, err
							}
							continue
						}
						f := result.Unlearning
						seconds := f.TrainSeconds + f.AggregateSeconds
						perShard := seconds / float64(max(1, f.Shards))
						row(t, dataset, m.name, string(scopeOf(m)), fmt.Sprint(batch), fmt.Sprint(f.Shards),
							report.Number(seconds, 3), report.Number(f.AggregateSeconds, 3), report.Number(perShard, 3))
						a.X, a.Y = append(a.X, float64(batch)), append(a.Y, seconds)
						b.X, b.Y = append(b.X, float64(batch)), append(b.Y, perShard)
					}
					whole.Lines, each.Lines = append(whole.Lines, a), append(each.Lines, b)
				}
				out.addFigure(dataset, whole)
				out.addFigure(dataset+"-per-shard", each)
			}
			t.Note("One batch each, seed %d. Times are of this machine; compare them with each other.", o.Seed)
			missing.note(t)
			return out, nil
		},
	}
}
