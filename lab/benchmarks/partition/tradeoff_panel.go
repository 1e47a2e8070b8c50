package main

import (
	"fmt"
	"math"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// measure reads a figure of quality, in percent of its best value.
type measure struct {
	name string
	of   func(protocol.Reading) float64
}

func accuracy() measure {
	return measure{"accuracy (%)", func(r protocol.Reading) float64 { return 100 * r.Test.Accuracy }}
}

func auc() measure {
	return measure{"AUC (%)", func(r protocol.Reading) float64 { return percent(r.Test.AUC) }}
}

func averagePrecision() measure {
	return measure{"average precision (%)", func(r protocol.Reading) float64 { return percent(r.Test.AveragePrecision) }}
}

func percent(share *float64) float64 {
	if share == nil {
		return math.NaN()
	}
	return 100 * *share
}

// panel is one picture: quality by cut and minimum stubs.
type panel struct {
	subject
	rows []panelRow
	// unsharded is the quality of one model on everything.
	unsharded report.Sample
}

// panelRow is a way to cut over the splits.
type panelRow struct {
	name string
	// cut is the share of cut edges, shards how many an erasure reaches at scope
	// stubs.
	cut, shards report.Sample
	// quality has a sample per minimum number of stubs.
	quality []report.Sample
}

// panels collects the results by subject.
func (c *tradeoffCmd) panels(results *bench.Results) ([]panel, error) {
	var out []panel
	for _, s := range c.subjects() {
		p := panel{subject: s}
		for _, cut := range cutChoices() {
			p.rows = append(p.rows, panelRow{name: cut.name, quality: make([]report.Sample, len(c.MinStubs))})
		}
		for seed := range uint64(c.Splits) {
			quality, _, err := p.read(results, c.unsharded(s, seed))
			if err != nil {
				return nil, err
			}
			p.unsharded = append(p.unsharded, quality)
			for i, cut := range cutChoices() {
				row := &p.rows[i]
				for k, minStubs := range c.MinStubs {
					quality, shape, err := p.read(results, c.cell(s, cut, minStubs, seed))
					if err != nil {
						return nil, err
					}
					row.quality[k] = append(row.quality[k], quality)
					if k == 0 {
						row.cut, row.shards = append(row.cut, shape.EdgeCut), append(row.shards, shape.ShardsPerErasure)
					}
				}
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func (p *panel) read(results *bench.Results, cell bench.Cell) (float64, protocol.Shape, error) {
	result, err := results.Get(cell)
	if err != nil {
		return 0, protocol.Shape{}, fmt.Errorf("%s: %w", cell, err)
	}
	reading, _ := result.Outcome.Reading(protocol.AggregateMean, false)
	return p.measure.of(reading), result.Outcome.Shape, nil
}

func (p *panel) title() string { return p.dataset + ", " + p.model }

// tradeoffTable has a row per panel and way to cut, and a column per minimum
// number of stubs. One model on everything has no stubs.
func tradeoffTable(panels []panel, minStubs []int, splits int) *report.Table {
	t := &report.Table{
		Title:   "Quality and shards per erasure",
		Columns: []string{"data set, model", "measure", "partition", "cut", "shards per erasure"},
	}
	for _, k := range minStubs {
		t.Columns = append(t.Columns, fmt.Sprintf("min stubs %d", k))
	}
	for _, p := range panels {
		for _, r := range p.rows {
			cells := []string{p.title(), p.measure.name, r.name, report.Number(r.cut.Mean(), 3),
				report.Number(r.shards.Mean(), 2)}
			for _, q := range r.quality {
				cells = append(cells, q.Text(1))
			}
			t.Add(cells...)
		}
		t.Add(p.title(), p.measure.name, "no shards", report.Number(0, 3), "all", p.unsharded.Text(1))
	}
	t.Note("Splits: %d, seeds from 0; ± is the standard deviation over them.", splits)
	return t
}
