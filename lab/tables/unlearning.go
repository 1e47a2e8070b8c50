package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
		"beside one model trained anew",
	}}
	out := &Output{Tables: []*report.Table{t}, Data: t}
	var missing absences
	var dear []string
	for _, dataset := range o.citations() {
		whole := &report.Figure{Title: "Batch unlearning time, " + dataset, X: "nodes to forget", Y: "seconds", LogX: true}
		each := &report.Figure{Title: "Unlearning time per shard, " + dataset, X: "nodes to forget", Y: "seconds per shard",
			LogX: true}
		anew := make(map[int]float64)
		for _, m := range forgetful() {
			a, b := report.Line{Name: m.name}, report.Line{Name: m.name}
			var ratios []ratio
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
				if m.name == scratch {
					anew[batch] = seconds
				}
				beside := ratio{batch, math.NaN()}
				if anew[batch] > 0 {
					beside.of = seconds / anew[batch]
				}
				ratios = append(ratios, beside)
				row(t, dataset, m.name, string(m.scope()), fmt.Sprint(batch), fmt.Sprint(f.Shards),
					report.Number(seconds, 3), report.Number(f.AggregateSeconds, 3), report.Number(perShard, 3),
					report.Number(beside.of, 2))
				a.X, a.Y = append(a.X, float64(batch)), append(a.Y, seconds)
				b.X, b.Y = append(b.X, float64(batch)), append(b.Y, perShard)
			}
			if m.name == own {
				dear = append(dear, dearFrom(dataset, ratios)...)
			}
			whole.Lines, each.Lines = append(whole.Lines, a), append(each.Lines, b)
		}
		out.addFigure(dataset, whole)
		out.addFigure(dataset+"-per-shard", each)
	}
	t.Note("One batch each, seed %d. Times are of this machine; compare them with each other.", o.Seed)
	noteDear(t, dear)
	missing.note(t)
	return out, nil
}

// ratio is the time of a batch divided by that of training one model on everything.
type ratio struct {
	batch int
	of    float64
}

// dearFrom tells from which batch on forgetting takes longer than training one model
// on everything, if from any.
func dearFrom(dataset string, ratios []ratio) []string {
	first := slices.IndexFunc(ratios, func(r ratio) bool { return r.of > 1 })
	if first < 0 {
		return nil
	}
	most := slices.MaxFunc(ratios, func(a, b ratio) int { return cmp.Compare(a.of, b.of) })
	return []string{fmt.Sprintf("%s: from %d nodes on (%.2f times), at most %.2f times (%d nodes)",
		dataset, ratios[first].batch, ratios[first].of, most.of, most.batch)}
}

func noteDear(t *report.Table, dear []string) {
	t.Note("A batch is one: each shard that it touches is trained once, so it never costs more than training all " +
		"shards anew.")
	if len(dear) > 0 {
		t.Note("All shards together cost more than one model without shards. %s's batches take longer than training "+
			"that one model on everything: %s. Shards pay for single erasures and small batches; who erases hundreds "+
			"of nodes of so small a graph at once is better served by one model.", own, strings.Join(dear, "; "))
	}
}
