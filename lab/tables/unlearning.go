package tables

import (
	"fmt"

	"lethe"
	"lethe/lab/bench"
	"lethe/lab/report"
)

// unlearning is the paper's figures of batch unlearning time and of the time per
// shard. lethe erases at scope stubs, which touches every shard that holds a
// stub for a forgotten node; the others at the paper's scope, the node's own
// shard.
func unlearning() Table {
	return Table{
		Name: "unlearning", Title: "Batch unlearning time", Needs: bench.Citations(),
		Cells: unlearningCells, Render: renderUnlearning,
	}
}

// batches are the numbers of nodes forgotten at once.
func (o Options) batches() []int {
	if o.Quick {
		return []int{1, 20}
	}
	return []int{1, 5, 10, 20, 50, 100, 200}
}

// forgetful are the methods timed: lethe once, because labels change nothing
// about what is trained.
func forgetful() []method { return methods()[:len(methods())-1] }

func (m method) scope() lethe.Scope {
	if m.name == own {
		return lethe.ScopeStubs
	}
	return lethe.ScopeShard
}

func (o Options) unlearningCell(dataset string, m method, batch int) bench.Cell {
	s := o.settings(dataset, modelsNamed("SAGE")[0], m, o.Seed)
	s.Aggregate, s.Propagate = []string{m.aggregate}, false
	return bench.Cell{Dataset: dataset, Unlearn: &bench.UnlearnCell{Settings: s, Batch: batch, Scope: m.scope()}}
}

func unlearningCells(o Options) []bench.Cell {
	var out []bench.Cell
	for _, dataset := range o.citations() {
		for _, m := range forgetful() {
			for _, batch := range o.batches() {
				out = append(out, o.unlearningCell(dataset, m, batch))
			}
		}
	}
	return out
}

func renderUnlearning(o Options, r *Results) (*Output, error) {
	t := &report.Table{Title: "Batch unlearning time, SAGE", Columns: []string{
		"data set", "method", "scope", "nodes", "shards", "seconds", "of them aggregation", "seconds per shard",
	}}
	out := &Output{Tables: []*report.Table{t}, Data: t}
	var missing absences
	for _, dataset := range o.citations() {
		whole := &report.Figure{Title: "Batch unlearning time, " + dataset, X: "nodes to forget", Y: "seconds", LogX: true}
		each := &report.Figure{Title: "Unlearning time per shard, " + dataset, X: "nodes to forget", Y: "seconds per shard",
			LogX: true}
		for _, m := range forgetful() {
			a, b := report.Line{Name: m.name}, report.Line{Name: m.name}
			for _, batch := range o.batches() {
				result, err := r.Get(o.unlearningCell(dataset, m, batch))
				if err != nil {
					if err = missing.add(dataset, err); err != nil {
						return nil, err
					}
					continue
				}
				f := result.Unlearning
				seconds := f.TrainSeconds + f.AggregateSeconds
				perShard := seconds / float64(max(1, f.Shards))
				row(t, dataset, m.name, string(m.scope()), fmt.Sprint(batch), fmt.Sprint(f.Shards),
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
}
