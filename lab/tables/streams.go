package tables

import (
	"fmt"
	"math"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// streamSplit is the paper's; a quick run takes the first timesteps.
func (o Options) streamSplit() protocol.StreamSplit {
	if o.Quick {
		return protocol.StreamSplit{Train: 6, Validation: 1, Test: 3}
	}
	return protocol.EllipticSplit()
}

// streams is the paper's fraud detection: timesteps 1-30 train, 35-49 test.
func streams() Table {
	return Table{
		Name: "elliptic", Title: fraudTitle, Needs: bench.Streams(),
		Cells: streamCells, Render: renderStreams,
	}
}

const fraudTitle = "Fraud detection over the test timesteps"

func (o Options) streamNames() []string {
	if o.Quick {
		return []string{bench.BitcoinOTC}
	}
	return bench.Streams()
}

func streamCells(o Options) []bench.Cell {
	var out []bench.Cell
	for _, dataset := range o.streamNames() {
		for _, e := range o.streamRows() {
			for _, seed := range o.seeds() {
				out = append(out, e.cell(o, dataset, seed))
			}
		}
	}
	return out
}

func renderStreams(o Options, r *Results) (*Output, error) {
	t := &report.Table{Title: fraudTitle, Columns: []string{
		"data set", "method", "model", "one-hop", "schedule",
		"macro-F1", "AUC", "average precision", "illicit-F1", "precision", "recall", "accuracy, all nodes",
	}}
	out := &Output{Tables: []*report.Table{t}, Data: t}
	var missing absences
	for _, dataset := range o.streamNames() {
		drawn := newStreamFigures(dataset)
		for _, e := range o.streamRows() {
			readings, err := streamReadings(r, o, dataset, e)
			if err != nil {
				if err = missing.add(dataset, err); err != nil {
					return nil, err
				}
			}
			how := []string{dataset, e.how.name, e.modelName(), string(e.hops), e.schedule}
			row(t, append(how, streamMeasures(readings)...)...)
			drawn.add(e, readings)
		}
		drawn.addTo(out, dataset)
	}
	o.noteStreams(t)
	missing.note(t)
	o.note(t)
	return out, nil
}

// noteStreams says how the rows were made.
func (o Options) noteStreams(t *report.Table) {
	split := o.streamSplit()
	t.Note("Split %s timesteps, labelled transactions, illicit from probability .5. Static, as the paper: trained on "+
		"the first %d timesteps only. Continual and window score every timestep and then learn from it, going on from the "+
		"last weights or anew from all history; a blend is fitted anew too, and weighs its models by how they did so far.",
		split, split.Train)
	t.Note("One-hop: the mean of all neighbours' features, or of payers and of payees apart (directed), and the " +
		"logarithms of their numbers beside each node's own.")
	gin := "static 60 epochs, continual 3 passes over 10 timesteps"
	if o.Quick {
		gin = "few epochs"
	}
	t.Note("GIN of width 64 with a linear skip, step .003, weight decay 1e-5; %s. The paper's width is 1024.", gin)
}

// streamReadings collects the readings of a row over the splits.
func streamReadings(r *Results, o Options, dataset string, e streamRow) ([]protocol.Reading, error) {
	var out []protocol.Reading
	for _, seed := range o.seeds() {
		result, err := r.Get(e.cell(o, dataset, seed))
		if err != nil {
			return nil, err
		}
		reading, ok := result.Outcome.Reading(e.how.aggregate, false)
		if !ok {
			return nil, fmt.Errorf("%s: the finished cell lacks a reading", e)
		}
		out = append(out, reading)
	}
	return out, nil
}

// streamMeasures are the figures of a row, averaged over splits.
func streamMeasures(readings []protocol.Reading) []string {
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

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
