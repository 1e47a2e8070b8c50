package tables

import (
	"fmt"
	"math"
	"slices"

	"lethe/evaluation/bench"
	"lethe/evaluation/protocol"
	"lethe/evaluation/report"
	"lethe/scoring"
	"lethe/trainer"
	"lethe/trainer/models"
)

// entrant is a row of the fraud table.
type entrant struct {
	name     string
	how      method
	model    string
	schedule string
	oneHop   bool
}

// entrants are the methods with the paper's GIN; then, unsharded and sharded as
// lethe does, the models that look at rows alone, and everything in test-then-
// train, with one-hop features where they help. A quick run takes some of them.
func (o Options) entrants() []entrant {
	var out []entrant
	for _, m := range methods()[:len(methods())-1] {
		out = append(out, entrant{name: m.name, how: m, model: models.EllipticGIN, schedule: protocol.Static})
	}
	both := func(e entrant, what string) {
		for _, name := range []string{scratch, own} {
			e.name, e.how = name+", "+what, methodNamed(name)
			out = append(out, e)
		}
	}
	for _, flat := range trainer.RowModels() {
		both(entrant{model: flat, schedule: protocol.Static}, flat)
	}
	both(entrant{model: models.EllipticGIN, schedule: protocol.Continual}, "continual")
	both(entrant{model: models.EllipticGIN, schedule: protocol.Continual, oneHop: true}, "one-hop, continual")
	for _, flat := range trainer.RowModels() {
		both(entrant{model: flat, schedule: protocol.Window, oneHop: true}, flat+", one-hop, test-then-train")
	}
	if o.Quick {
		return slices.DeleteFunc(out, func(e entrant) bool {
			return !slices.Contains([]string{scratch, guideFast, own}, e.how.name) || e.model == trainer.Trees
		})
	}
	return out
}

// streamSplit is the paper's; a quick run takes the first timesteps.
func (o Options) streamSplit() protocol.StreamSplit {
	if o.Quick {
		return protocol.StreamSplit{Train: 6, Validation: 1, Test: 3}
	}
	return protocol.EllipticSplit()
}

// allHistory is a window that no stream fills.
const allHistory = 1000

// streams is the paper's fraud detection: timesteps 1-30 train, 35-49 test.
func streams() Table {
	const title = "Fraud detection over the test timesteps"
	datasets := func(o Options) []string {
		if o.Quick {
			return []string{bench.BitcoinOTC}
		}
		return bench.Streams()
	}
	cell := func(o Options, dataset string, e entrant, seed uint64) bench.Cell {
		s := protocol.StreamSettings{Schedule: e.schedule, Split: o.streamSplit()}
		s.Model, s.Shards, s.Seed, s.OneHop = e.model, o.shards(dataset), seed, e.oneHop
		if e.schedule == protocol.Window {
			s.WindowTimesteps = allHistory
		}
		e.how.apply(&s.Settings)
		s.Propagate = false
		s.Epochs = o.epochs()
		s = s.EnsureDefaults()
		return bench.Cell{Dataset: dataset, Stream: &s}
	}
	return Table{
		Name: "elliptic", Title: title, Needs: bench.Streams(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			for _, dataset := range datasets(o) {
				for _, e := range o.entrants() {
					for _, seed := range o.seeds() {
						out = append(out, cell(o, dataset, e, seed))
					}
				}
			}
			return out
		},
		Render: func(o Options, r *Results) (*Output, error) {
			t := &report.Table{Title: title, Columns: []string{
				"data set", "method", "macro-F1", "AUC", "average precision", "illicit-F1", "precision", "recall", "accuracy, all nodes",
			}}
			out := &Output{Tables: []*report.Table{t}, Data: t}
			var missing absences
			for _, dataset := range datasets(o) {
				f1 := &report.Figure{Title: "Macro-F1 by timestep, " + dataset, X: "timestep", Y: "macro-F1"}
				auc := &report.Figure{Title: "AUC by timestep, " + dataset, X: "timestep", Y: "AUC"}
				for _, e := range o.entrants() {
					readings, err := streamReadings(r, o, e, func(seed uint64) bench.Cell { return cell(o, dataset, e, seed) })
					if err != nil {
						if err = missing.add(dataset, err); err != nil {
							return nil, err
						}
					}
					row(t, append([]string{dataset, e.name}, streamRow(readings)...)...)
					f1.Lines = append(f1.Lines, stepLine(e.name, readings, func(s scoring.Summary) float64 { return s.MacroF1 }))
					auc.Lines = append(auc.Lines, stepLine(e.name, readings, func(s scoring.Summary) float64 { return orNaN(s.AUC) }))
				}
				out.addFigure(dataset+"-macro-f1", f1)
				out.addFigure(dataset+"-auc", auc)
			}
			split := o.streamSplit()
			t.Note("Split %s timesteps, labelled transactions, illicit from probability .5. Trained on the first %d timesteps only, as the paper, but for continual and test-then-train: there every timestep is scored, then learnt from, by going on from the last weights or anew from all history. One-hop: the mean of all neighbours' features and the log degree beside each node's own.", split, split.Train)
			gin := "static 60 epochs, continual 3 passes over 10 timesteps"
			if o.Quick {
				gin = "few epochs"
			}
			t.Note("GIN of width 64 with a linear skip, step .003, weight decay 1e-5; %s. The paper's width is 1024.", gin)
			missing.note(t)
			o.note(t)
			return out, nil
		},
	}
}

// streamReadings collects the readings of a row over the splits.
func streamReadings(r *Results, o Options, e entrant, cell func(uint64) bench.Cell) ([]protocol.Reading, error) {
	var out []protocol.Reading
	for _, seed := range o.seeds() {
		result, err := r.Get(cell(seed))
		if err != nil {
			return nil, err
		}
		reading, ok := result.Outcome.Reading(e.how.aggregate, false)
		if !ok {
			return nil, fmt.Errorf("%s: the finished cell lacks a reading", e.name)
		}
		out = append(out, reading)
	}
	return out, nil
}

func streamRow(readings []protocol.Reading) []string {
	sample := func(pick func(protocol.Reading) float64) string {
		var s report.Sample
		for _, r := range readings {
			s = append(s, pick(r))
		}
		return s.Text(3)
	}
	return []string{
		sample(func(r protocol.Reading) float64 { return r.Test.MacroF1 }),
		sample(func(r protocol.Reading) float64 { return orNaN(r.Test.AUC) }),
		sample(func(r protocol.Reading) float64 { return orNaN(r.Test.AveragePrecision) }),
		sample(func(r protocol.Reading) float64 { return r.Test.IllicitF1 }),
		sample(func(r protocol.Reading) float64 { return r.Test.Precision }),
		sample(func(r protocol.Reading) float64 { return r.Test.Recall }),
		sample(func(r protocol.Reading) float64 { return r.AllNodes }),
	}
}

// stepLine is a figure's course over the test timesteps, averaged over splits.
func stepLine(name string, readings []protocol.Reading, pick func(scoring.Summary) float64) report.Line {
	line := report.Line{Name: name}
	for i := 0; len(readings) > 0 && i < len(readings[0].PerStep); i++ {
		if readings[0].PerStep[i].Part != "test" {
			continue
		}
		var s report.Sample
		for _, r := range readings {
			s = append(s, pick(r.PerStep[i].Summary))
		}
		line.X, line.Y = append(line.X, float64(readings[0].PerStep[i].Timestep)), append(line.Y, s.Mean())
	}
	return line
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
