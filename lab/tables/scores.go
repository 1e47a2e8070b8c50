package tables

import (
	"fmt"

	"lethe/lab/paper"
	"lethe/lab/report"
)

// scores are the normalised scores of a grid: where a method's accuracy lies
// between Random, 0, and Scratch, 100.
type scores struct {
	key string
	// test and shards are by data set ("all" for all) and method.
	test, shards map[string]map[string]report.Sample
	datasets     []string
}

const allSets = "all"

// leastGap is the accuracy that Scratch must have ahead of Random for a score to
// mean something: below, splits move it by more than its whole range.
const leastGap = 0.04

func newScores(key string) *scores {
	return &scores{key: key, test: make(map[string]map[string]report.Sample),
		shards: make(map[string]map[string]report.Sample)}
}

// add takes a cell's mean accuracy; a missing cell counts for nothing.
func (s *scores) add(dataset, method string, a accuracy) {
	if !isNumber(a.test) {
		return
	}
	if s.test[dataset] == nil {
		s.datasets = append(s.datasets, dataset)
	}
	for _, name := range []string{dataset, allSets} {
		if s.test[name] == nil {
			s.test[name], s.shards[name] = make(map[string]report.Sample), make(map[string]report.Sample)
		}
		s.test[name][method] = append(s.test[name][method], a.test.Mean())
		s.shards[name][method] = append(s.shards[name][method], a.shards.Mean())
	}
}

// rows adds the scores and what an erasure reaches under the accuracies. The
// accuracies are averaged before they are scored, because a score of one row
// explodes where Random comes close to Scratch.
func (s *scores) rows(t *report.Table, p *paper.Paper) {
	if len(s.datasets) == 0 {
		return
	}
	for _, dataset := range append(s.datasets, allSets) {
		row := []string{dataset, "**normalised score**"}
		for _, how := range methods() {
			of := s.test[dataset]
			text := report.Missing
			if complete(of, how.name) && of[scratch].Mean()-of[random].Mean() >= leastGap {
				text = report.Number(report.Normalised(of[how.name].Mean(), of[random].Mean(), of[scratch].Mean()), 1)
			}
			published, known := p.Value(paper.Key{Table: s.key, Dataset: dataset, Model: "normalised", Method: how.name})
			row = append(row, beside(text, published, known))
		}
		t.Rows = append(t.Rows, row)
	}
	reach := []string{allSets, "shards per erasure"}
	for _, how := range methods() {
		text := report.Missing
		if sample := s.shards[allSets][how.name]; isNumber(sample) {
			text = fmt.Sprintf("%.2f", sample.Mean())
		}
		reach = append(reach, text)
	}
	t.Rows = append(t.Rows, reach)
	t.Note("The normalised score is 100 (x - Random) / (Scratch - Random) of the mean accuracies; none where these two "+
		"differ by less than %.0f points. Shards per erasure: how many hold a node or a stub for it, so have to be trained "+
		"anew at scope stubs.", 100*leastGap)
}

// complete tells whether a method was measured wherever the two ends were.
func complete(of map[string]report.Sample, method string) bool {
	n := len(of[scratch])
	return n > 0 && len(of[random]) == n && len(of[method]) == n
}
