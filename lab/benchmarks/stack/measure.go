package main

import (
	"slices"
	"time"

	"lethe"
	"lethe/lab/measures"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
)

// reading is one way to make a score of what components say.
type reading struct {
	name    string
	members []int
	// weighed says that the combination is learnt; else it is the mean logit.
	weighed bool
	learnt  *meta.Model
	// observe, if not nil, is called with what a timestep's transactions are given.
	observe func(s *step, probabilities []float64, threshold float64)
	// tally has the probabilities, and served counts the classes: truths by what
	// was served, licit before illicit.
	tally  measures.Tally
	served measures.Confusion
	// scores, illicit and timesteps are the probabilities and truths of the labelled nodes, and when
	// they were.
	scores    []float64
	illicit   []bool
	timesteps []lethe.Timestep
}

// count scores a timestep and counts it.
func (r *reading) count(s *step, logits [][]float64, rule decision.Rule) {
	if r.served == nil {
		r.served = measures.Confusion{make([]int, 2), make([]int, 2)}
	}
	probabilities := r.learnt.Probabilities(logits)
	threshold := r.learnt.ThresholdFor(rule, probabilities)
	if r.observe != nil {
		r.observe(s, probabilities, threshold)
	}
	for node, label := range s.labels {
		r.tally.Add(s.timestep, probabilities[node], label)
		if label == lethe.Unknown {
			continue
		}
		class := 0
		if probabilities[node] >= threshold {
			class = 1
		}
		r.served[int(label)-1][class]++
		r.scores, r.illicit = append(r.scores, probabilities[node]), append(r.illicit, label == lethe.Illicit)
		r.timesteps = append(r.timesteps, s.timestep)
	}
}

// figures are what is printed of a reading.
type figures struct {
	Name             string   `json:"name"`
	Components       []string `json:"components"`
	AUC              *float64 `json:"auc"`
	AveragePrecision *float64 `json:"average_precision"`
	// ServedF1 is that of the illicit class, BestF1 what the best threshold reaches.
	ServedF1         float64  `json:"served_f1"`
	BestF1           *float64 `json:"best_f1"`
	CalibrationError *float64 `json:"expected_calibration_error"`
	BudgetPrecision  float64  `json:"budget_precision"`
	BudgetRecall     float64  `json:"budget_recall"`
	// Of the last timestep: the weights of the components and what is added, the
	// threshold, the method of calibration and the digest of combination and
	// calibration.
	Weights     []float64    `json:"weights"`
	Intercept   float64      `json:"intercept"`
	Threshold   float64      `json:"threshold"`
	Calibration string       `json:"calibration"`
	Digest      lethe.Digest `json:"digest"`
	// Alerts are those of every timestep at the budget.
	Alerts  []alerts `json:"alerts"`
	weighed bool
	// Gains are those on the first ensemble, of the others and only when asked for.
	Gains *gains `json:"gains,omitempty"`
}

// cost is what training a component takes, in seconds of processor time.
type cost struct {
	Name   string `json:"name"`
	Groups int    `json:"groups"`
	// Touched is how many groups the erasure of one transaction reaches on average.
	Touched float64 `json:"groups_per_erasure"`
	// LastTimestep is that of all groups at the last timestep trained, Group the mean
	// of one group, Total that of all that was trained.
	LastTimestep float64 `json:"last_timestep_seconds"`
	Group        float64 `json:"group_seconds"`
	Total        float64 `json:"total_seconds"`
}

// document is all that is printed.
type document struct {
	Dataset string         `json:"dataset"`
	Shards  int            `json:"shards"`
	Seed    uint64         `json:"seed"`
	Window  int            `json:"window"`
	First   lethe.Timestep `json:"first"`
	Last    lethe.Timestep `json:"last"`
	Rules   lethe.Digest   `json:"rules"`
	Budget  int            `json:"budget"`
	Figures []figures      `json:"figures"`
	Costs   []cost         `json:"costs"`
}

// report sums up.
func (r *run) report() document {
	first, last := r.span()
	d := document{
		Dataset: r.cli.Dataset, Shards: r.cli.Shards, Seed: r.cli.Seed, Window: r.cli.Window,
		First: first, Last: last, Rules: r.rules.Fingerprint(), Budget: r.cli.Budget,
	}
	for i, of := range r.readings {
		s := of.tally.Summarise(first, last, of.learnt.Threshold)
		budget := of.tally.AtBudget(first, last, r.cli.Budget)
		d.Figures = append(d.Figures, figures{
			Name: of.name, Components: r.names(of), AUC: s.AUC, AveragePrecision: s.AveragePrecision,
			ServedF1: of.served.F1(1), BestF1: s.BestF1, CalibrationError: s.ExpectedCalibrationError,
			BudgetPrecision: budget.Precision(), BudgetRecall: budget.Recall(),
			Weights: of.learnt.Combination.Coefficients(), Intercept: of.learnt.Combination.Intercept(),
			Threshold: of.learnt.Threshold, Calibration: of.learnt.Calibration.Method(), Digest: digestOf(of.learnt),
			Alerts: of.alerts(first, last, r.cli.Budget), weighed: of.weighed,
			Gains: r.gainsOf(i),
		})
	}
	for _, t := range slices.Concat(r.components, r.wholes) {
		c := cost{
			Name: t.name, Groups: t.groups, Total: t.total.Seconds(), Touched: touched(r.steps, t.groups, r.cli.Shards),
		}
		var sum time.Duration
		for _, group := range t.last {
			sum += group
		}
		c.LastTimestep, c.Group = sum.Seconds(), sum.Seconds()/float64(t.groups)
		d.Costs = append(d.Costs, c)
	}
	return d
}
