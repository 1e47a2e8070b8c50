package tables

import (
	"fmt"

	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/report"
)

// erasedNodes is the number of nodes that the paper's attack looks for.
const erasedNodes = 100

// graphMembership is the paper's table of attacks: a hundred training nodes are erased,
// and told from a hundred test nodes.
func graphMembership() Table {
	return Table{
		Name: "membership-graphs", Title: "Attacks on erased nodes of citation graphs", Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			// Seed by seed, so that an interrupted run has whole repetitions.
			for _, seed := range o.seeds() {
				_ = o.eachAttacked(func(dataset string, m model, how method) error {
					out = append(out, o.membershipCell(dataset, m, how, seed))
					return nil
				})
			}
			return out
		},
		Render: renderGraphMembership,
	}
}

// eachAttacked visits the rows: the paper's method at its scope, and lethe.
func (o Options) eachAttacked(visit func(dataset string, m model, how method) error) error {
	for _, dataset := range o.citations() {
		for _, m := range o.models([]string{"SAGE", "GAT", "GIN"}) {
			for _, name := range []string{guideFast, own} {
				if err := visit(dataset, m, methodNamed(name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o Options) membershipCell(dataset string, m model, how method, seed uint64) bench.Cell {
	s := o.settings(dataset, m, how, seed)
	s.Aggregate, s.Propagate = []string{how.aggregate}, false
	batch := erasedNodes
	if o.Quick {
		batch = 10
	}
	return bench.Cell{Dataset: dataset, Membership: &bench.UnlearnCell{Settings: s, Batch: batch, Scope: how.scope()}}
}

func renderGraphMembership(o Options, r *Results) (*Output, error) {
	t := &report.Table{Title: "Attacks on erased nodes of citation graphs, AUC (%)", Columns: []string{
		"data set", "model", "method", "scope", "seeds", "control: loss before", "loss after", "both versions: distance",
	}}
	var missing absences
	err := o.eachAttacked(func(dataset string, m model, how method) error {
		var control, loss, distance report.Sample
		for _, seed := range o.seeds() {
			result, err := r.Get(o.membershipCell(dataset, m, how, seed))
			if err != nil {
				if err = missing.add(dataset, err); err != nil {
					return err
				}
				continue
			}
			f := result.Membership
			control, loss = append(control, f.Control), append(loss, f.Loss)
			distance = append(distance, f.Distance)
		}
		published, known := r.Paper.Value(paper.Key{Table: "membership", Dataset: dataset, Model: m.name, Method: "GUIDE"})
		row(t, dataset, m.name, how.name, string(how.scope()), fmt.Sprint(len(control)), control.Percent(),
			loss.Percent(), beside(distance.Percent(), published, known && how.name == guideFast))
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.Note("%d training nodes are erased as one batch and told from as many test nodes; 50 is a guess. Control: by the "+
		"loss on their labels while the models still hold them; loss after: the same after the erasure; both "+
		"versions: by how far the erasure moved the posteriors, which the paper's program measures (in brackets what "+
		"the paper prints, without a control). An attack that fails on its control has no power.", erasedNodes)
	t.Note("± is the standard deviation over the seeds from %d on that are measured.", o.Seed)
	missing.note(t)
	if o.Quick {
		o.note(t)
	}
	return &Output{Tables: []*report.Table{t}, Data: t}, nil
}
