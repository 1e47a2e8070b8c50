package tables

import (
	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// table makes a grid a table of the evaluation.
func (g grid) table(name, title string) Table {
	return Table{
		Name: name, Title: title, Needs: bench.Citations(), Cells: g.cells,
		Render: func(o Options, r *Results) (*Output, error) { return g.render(o, r, title) },
	}
}

func inductive() Table {
	return grid{key: "inductive", models: []string{"SAGE", "GIN", "GAT", "GATv2", "SuperGAT", "APPNP"}}.
		table("inductive", "Inductive node classification")
}

func transductive() Table {
	return grid{
		key: "transductive", models: []string{"SAGE", "GIN", "GAT", "GCN"},
		change: func(s *protocol.Settings) { s.Transductive = true },
	}.table("transductive", "Transductive node classification")
}

// transductiveShared has the test nodes in every shard, as the paper describes
// GraphEraser's shards; above they are dealt into shards as training nodes are.
func transductiveShared() Table {
	return grid{
		key: "transductive", models: []string{"SAGE", "GIN", "GAT", "GCN"},
		change: func(s *protocol.Settings) { s.Transductive, s.SharedTest = true, true },
	}.table("transductive-shared", "Transductive node classification, test nodes in every shard")
}

func mlp() Table {
	return grid{key: "mlp", models: []string{"MLP"}}.table("mlp", "MLP, without the graph")
}

// sgc has two grids: the paper's figures are those of row-normalised features,
// with which SGC hardly learns.
func sgc() Table {
	const title = "SGC"
	normalised := grid{key: "sgc", models: []string{"SGC"}}
	raw := grid{key: "sgc-raw", models: []string{"SGC"}, change: func(s *protocol.Settings) { s.RawFeatures = true }}
	return Table{
		Name: "sgc", Title: title, Needs: bench.Citations(),
		Cells: func(o Options) []bench.Cell { return append(normalised.cells(o), raw.cells(o)...) },
		Render: func(o Options, r *Results) (*Output, error) {
			out, err := normalised.render(o, r, title+" on row-normalised features")
			if err != nil {
				return nil, err
			}
			more, err := raw.render(o, r, title+" on raw features")
			if err != nil {
				return nil, err
			}
			out.Tables = append(out.Tables, more.Tables...)
			for _, row := range more.Data.Rows {
				row[1] += " raw"
				out.Data.Rows = append(out.Data.Rows, row)
			}
			return out, nil
		},
	}
}

// repairs is the paper's ablation of repair, for Random and lethe too: the paper
// gives its rivals none.
func repairs() Table {
	const title = "Repair strategies"
	strategies := []string{protocol.RepairTruth, "none", "mirror", "zero", "mixup"}
	ablation := ablation{
		key: "repair", columns: strategies, methods: []string{guideFast, guideSR, random, own},
		cell: func(o Options, m model, how method, column string, seed uint64) protocol.Settings {
			s := o.settings(bench.Cora, m, how, seed)
			s.Repair = column
			if column == "none" || column == protocol.RepairTruth {
				s.MinStubs = 0
			}
			return s
		},
		reading: func(how method, _ string) string { return how.aggregate },
	}
	return ablation.table("repair", title)
}

// aggregation compares the ways to combine shards on the same models.
func aggregation() Table {
	ablation := ablation{
		key: "aggregation", methods: []string{guideFast, guideSR},
		columns: []string{protocol.AggregateMean, protocol.AggregateLearned, protocol.AggregateSimilarity},
		cell: func(o Options, m model, how method, _ string, seed uint64) protocol.Settings {
			return o.settings(bench.Cora, m, how, seed)
		},
		reading: func(_ method, column string) string { return column },
	}
	return ablation.table("aggregation", "Aggregation")
}

// embedding compares what Eraser-BEKM may cluster: an embedding of the structure,
// or the hidden layer of a trained GraphSAGE.
func embedding() Table {
	const structure = "structure"
	ablation := ablation{
		key: "embedding", methods: []string{eraserBEKM}, columns: []string{structure, "GraphSAGE"},
		cell: func(o Options, m model, how method, column string, seed uint64) protocol.Settings {
			s := o.settings(bench.Cora, m, how, seed)
			if column != structure {
				s.Partition.Embedding = protocol.EmbeddingSAGE
			}
			return s
		},
		reading: func(how method, _ string) string { return how.aggregate },
	}
	return ablation.table("embedding", "What Eraser-BEKM clusters")
}

// row is a figure of a long data table.
func row(t *report.Table, cells ...string) { t.Rows = append(t.Rows, cells) }
