package tables

import (
	"fmt"
	"math"

	"lethe/evaluation/bench"
	"lethe/evaluation/protocol"
	"lethe/evaluation/report"
	"lethe/scoring"
	"lethe/trainer/models"
)

// entrant is a row of the fraud table.
type entrant struct {
	name     string
	how      method
	model    string
	schedule string
}

// entrants are the methods with the paper's GIN, then the models on features
// alone, unsharded and sharded as lethe does, then lethe's own schedule.
func entrants() []entrant {
	var out []entrant
	for _, m := range methods()[:len(methods())-1] {
		out = append(out, entrant{m.name, m, models.EllipticGIN, protocol.Static})
	}
	for _, flat := range []string{"logistic", "trees"} {
		out = append(out,
			entrant{flat + ", unsharded", methodNamed(scratch), flat, protocol.Static},
			entrant{flat + ", " + own, methodNamed(own), flat, protocol.Static})
	}
	return append(out,
		entrant{scratch + ", continual", methodNamed(scratch), models.EllipticGIN, protocol.Continual},
		entrant{own + ", continual", methodNamed(own), models.EllipticGIN, protocol.Continual})
}

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
		s := protocol.StreamSettings{Schedule: e.schedule, Split: protocol.EllipticSplit()}
		s.Model, s.Shards, s.Seed = e.model, shardsOf(dataset), seed
		e.how.apply(&s.Settings)
		s.Propagate = false
		if o.Quick {
			s.Epochs = 2
		}
		s = s.EnsureDefaults()
		return bench.Cell{Dataset: dataset, Stream: &s}
	}
	return Table{
		Name: "elliptic", Title: title, Needs: bench.Streams(),
		Cells: func(o Options) []bench.Cell {
			var out []bench.Cell
			for _, dataset := range datasets(o) {
				for _, e := range entrants() {
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
				for _, e := range entrants() {
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
			split := protocol.EllipticSplit()
			t.Note("Split %s timesteps, labelled transactions, illicit from probability .5. Static: trained on the first %d timesteps only, as the paper. Continual: every timestep is scored, then learnt from.", split, split.Train)
			t.Note("GIN of width 64 with a linear skip, step .003, weight decay 1e-5; static 60 epochs, continual 3 passes over 10 timesteps. The paper's width is 1024.")
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
