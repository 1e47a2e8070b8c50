package tables

import (
	"lethe/lab/bench"
	"lethe/lab/report"
)

// shardModels compares every shard model with the PyTorch Geometric reference, at
// the widths and with the methods that the reference was measured at.
func shardModels() Table {
	const title = "Shard models"
	return Table{
		Name: "models", Title: title, Needs: []string{bench.Cora, bench.CiteSeer},
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			_ = eachShardModel(o, func(dataset string, m model, how method) error {
				for _, seed := range o.seeds() {
					out = append(out, grid{}.cell(o, dataset, m, how, seed))
				}
				return nil
			})
			return out
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := newReferenceTable(title)
			var missing absences
			err := eachShardModel(o, func(dataset string, m model, how method) error {
				a, err := grid{}.read(o, r, dataset, m, how, o.seeds())
				if err != nil {
					return missing.add(dataset, err)
				}
				t.add(r.Paper, dataset, m, how.name, a)
				return nil
			})
			if err != nil {
				return nil, err
			}
			t.conclude()
			t.Note("Settings: %s", settingsText(o))
			missing.note(&t.Table)
			o.note(&t.Table)
			return &Output{Tables: []*report.Table{&t.Table}, Data: &t.Table}, nil
		},
	}
}

// eachShardModel visits what the reference measured; a quick run two models.
func eachShardModel(o Options, visit func(dataset string, m model, how method) error) error {
	narrow := func(name string) model {
		m := modelsNamed(name)[0]
		m.hidden = 16
		return m
	}
	rows := map[string][]model{
		bench.Cora: append([]model{narrow("SAGE")}, modelsNamed("SAGE", "GIN", "GAT", "GATv2", "GCN", "APPNP", "MLP",
			"SGC")...),
		bench.CiteSeer: append(append([]model{narrow("SAGE")}, modelsNamed("SAGE", "GIN", "GAT")...),
			narrow("APPNP"), narrow("MLP"), modelsNamed("SGC")[0]),
	}
	datasets := []string{bench.Cora, bench.CiteSeer}
	if o.Quick {
		datasets = datasets[:1]
		rows[bench.Cora] = rows[bench.Cora][1:3]
	}
	for _, dataset := range datasets {
		for _, m := range rows[dataset] {
			for _, name := range []string{scratch, random, guideFast} {
				if err := visit(dataset, m, methodNamed(name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
