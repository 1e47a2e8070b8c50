package tables

import (
	"fmt"

	"lethe/lab/attack"
	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/report"
)

// membership is the paper's table of attacks on what an erasure leaves, through
// the public erasure path and with positive controls, which the paper lacks. The
// paper attacks citation graphs; lethe erases from streams.
func membership() Table {
	const title = "Attacks on what an erasure leaves"
	return Table{
		Name: "membership", Title: title, Needs: bench.Streams(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			for _, dataset := range attackedDatasets(o) {
				out = append(out, attackCell(o, dataset))
			}
			return out
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title, Columns: []string{
				"data set", "scope", "attack", "who sees", "AUC on the control", "AUC after the erasure", "interval", "never held",
				"verdict",
			}}
			var missing absences
			for _, dataset := range attackedDatasets(o) {
				result, err := r.Get(attackCell(o, dataset))
				if err != nil {
					if err = missing.add(dataset, err); err != nil {
						return nil, err
					}
					continue
				}
				for i := range result.Attack.Findings {
					findingRow(t, dataset, &result.Attack.Findings[i])
				}
			}
			notePrinted(t, r.Paper)
			t.Note("An attack that fails on its control, a model that still holds the record, has no power and says nothing. " +
				"Attacks that see the versions before and after tell by design that something changed.")
			t.Note("Payments join similar records, which a model tells of records that were never sent as well (never held). " +
				"What is left of an erasure is what exceeds that.")
			missing.note(t)
			t.Note("The first %d timesteps, half for the deployment and half for the attacker; seed %d.",
				attackCell(o, bench.BitcoinOTC).Attack.Timesteps, o.Seed+1)
			return &Output{Tables: []*report.Table{t}, Data: t}, nil
		},
	}
}

// attackedDatasets are the streams whose erasures are attacked.
func attackedDatasets(o Options) []string {
	if o.Quick {
		return []string{bench.BitcoinOTC}
	}
	return bench.Streams()
}

func attackCell(o Options, dataset string) bench.Cell {
	c := bench.AttackCell{Shards: shardsOf(dataset), Hidden: 64, Seed: o.Seed + 1, Timesteps: attack.EnoughTimesteps}
	if o.Quick {
		c = bench.AttackCell{Shards: 4, Hidden: 16, Seed: o.Seed + 1, Timesteps: 6, Requests: 2, Targets: 40}
	}
	return bench.Cell{Dataset: dataset, Attack: &c}
}

// notePrinted adds what the paper prints.
func notePrinted(t *report.Table, printed *paper.Paper) {
	text := "The paper prints these AUC (%) without a control:"
	for _, dataset := range bench.Citations() {
		for _, m := range modelsNamed("SAGE", "GAT", "GIN") {
			key := paper.Key{Table: "membership", Dataset: dataset, Model: m.name, Method: "GUIDE"}
			if v, known := printed.Value(key); known {
				text += fmt.Sprintf(" %s %s %.1f,", dataset, m.name, v.Mean)
			}
		}
	}
	t.Note("%s", text[:len(text)-1]+".")
}

// findingRow adds what one attack found.
func findingRow(t *report.Table, dataset string, f *attack.Finding) {
	never := report.Missing
	if f.NeverHeld != nil {
		never = report.Number(f.NeverHeld.AUC, 3)
	}
	row(t, dataset, string(f.Scope), f.Attack, string(f.Adversary), report.Number(f.Control.AUC, 3),
		report.Number(f.Result.AUC, 3),
		fmt.Sprintf("%.3f to %.3f", f.Result.Interval.Low, f.Result.Interval.High), never, string(f.Verdict))
}
