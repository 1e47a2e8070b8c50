package tables

import (
	"cmp"
	"fmt"
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

func (o Options) unlearningCell(dataset string, m method, batch int, seed uint64) bench.Cell {
	s := o.settings(dataset, modelsNamed("SAGE")[0], m, seed)
	s.Aggregate, s.Propagate = []string{m.aggregate}, false
	return bench.Cell{Dataset: dataset, Unlearn: &bench.UnlearnCell{Settings: s, Batch: batch, Scope: m.scope()}}
}

func unlearningCells(o Options) []bench.Cell {
	var out []bench.Cell
	// Seed by seed, so that an interrupted run has whole repetitions.
	for _, seed := range o.seeds() {
		for _, dataset := range o.citations() {
			for _, m := range forgetful() {
				for _, batch := range o.batches() {
					out = append(out, o.unlearningCell(dataset, m, batch, seed))
				}
			}
		}
	}
	return out
}

// batchTimes are what one batch took, over the seeds that were measured.
type batchTimes struct {
	shards, seconds, aggregation, perShard report.Sample
	// beside is the time divided by that of training one model on everything, where
	// that was measured with the same seed.
	beside report.Sample
}

// batchTimes reads the seeds that are finished, and returns why one is not.
func (o Options) batchTimes(r *Results, dataset string, m method, batch int) (b batchTimes, absent error) {
	for _, seed := range o.seeds() {
		result, err := r.Get(o.unlearningCell(dataset, m, batch, seed))
		if err != nil {
			absent = err
			continue
		}
		f := result.Unlearning
		seconds := f.TrainSeconds + f.AggregateSeconds
		b.shards, b.seconds = append(b.shards, float64(f.Shards)), append(b.seconds, seconds)
		b.aggregation = append(b.aggregation, f.AggregateSeconds)
		b.perShard = append(b.perShard, seconds/float64(max(1, f.Shards)))
		anew, err := r.Get(o.unlearningCell(dataset, methodNamed(scratch), batch, seed))
		if err == nil && anew.Unlearning.TrainSeconds > 0 {
			b.beside = append(b.beside, seconds/(anew.Unlearning.TrainSeconds+anew.Unlearning.AggregateSeconds))
		}
	}
	return b, absent
}

func renderUnlearning(o Options, r *Results) (*Output, error) {
	t := &report.Table{Title: "Batch unlearning time, SAGE", Columns: []string{
		"data set", "method", "scope", "nodes", "seeds", "shards", "processor seconds", "of them aggregation", "per shard",
		"beside one model trained anew",
	}}
	out := &Output{Tables: []*report.Table{t}, Data: t}
	var missing absences
	var dear []string
	for _, dataset := range o.citations() {
		whole := &report.Figure{
			Title: "Batch unlearning time, " + dataset, X: "nodes to forget", Y: "processor seconds", LogX: true,
		}
		each := &report.Figure{
			Title: "Unlearning time per shard, " + dataset, X: "nodes to forget", Y: "processor seconds per shard", LogX: true,
		}
		for _, m := range forgetful() {
			a, b := report.Line{Name: m.name}, report.Line{Name: m.name}
			var ratios []ratio
			for _, batch := range o.batches() {
				f, absent := o.batchTimes(r, dataset, m, batch)
				if absent != nil {
					if err := missing.add(dataset, absent); err != nil {
						return nil, err
					}
				}
				if len(f.seconds) == 0 {
					continue
				}
				ratios = append(ratios, ratio{batch, f.beside.Mean()})
				row(t, dataset, m.name, string(m.scope()), fmt.Sprint(batch), fmt.Sprint(len(f.seconds)), f.shards.Text(1),
					f.seconds.Text(3), report.Number(f.aggregation.Mean(), 3), f.perShard.Text(3), f.beside.Text(2))
				a.X, a.Y = append(a.X, float64(batch)), append(a.Y, f.seconds.Mean())
				b.X, b.Y = append(b.X, float64(batch)), append(b.Y, f.perShard.Mean())
			}
			if m.name == own {
				dear = append(dear, dearFrom(dataset, ratios)...)
			}
			whole.Lines, each.Lines = append(whole.Lines, a), append(each.Lines, b)
		}
		out.addFigure(dataset, whole)
		out.addFigure(dataset+"-per-shard", each)
	}
	t.Note("One batch per seed; ± is the standard deviation over seeds. Seconds are processor time on a machine that " +
		"did other work as well; compare them with each other. Shards are trained side by side, so on P processors they " +
		"take up to P times less by the clock, which one model does not.")
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
