package attack

import (
	"lethe"
	"lethe/deletions"
	"lethe/lab/attack/roc"
)

// Adversary says what an attack works with.
type Adversary string

// The adversaries. The first has the models that are served after the erasure,
// and the record in question; the second kept the models from before as well;
// the third also knows the graph that is left; the fourth reads the training
// data of the shards, as an operator can.
const (
	UnlearnedModel Adversary = "unlearned model"
	BothVersions   Adversary = "both versions"
	ModelAndGraph  Adversary = "unlearned model and graph"
	SlicesAndGraph Adversary = "slices and graph"
)

// Verdict is what may be concluded.
type Verdict string

// The verdicts. NoPower says that the attack failed even on its positive
// control, so that nothing follows from it.
const (
	NoSignal Verdict = "no signal found"
	Leaks    Verdict = "leaks"
	NoPower  Verdict = "no power"
)

// An attack has power if it reaches this area on its positive control.
const controlAUC = .65

// familyConfidence is the chance that no interval of the attacks of one
// adversary at one scope misses its true value (Bonferroni).
const familyConfidence = .95

// Measured is an area under a ROC curve with its confidence interval.
type Measured struct {
	AUC      float64      `json:"auc"`
	Interval roc.Interval `json:"interval"`
	// CertainShare is the share of positives that score above every negative:
	// what an attacker who must not err finds.
	CertainShare float64 `json:"certain_share"`
	estimate     roc.Estimate
	// curve is for the figure.
	curve []roc.Point
}

// Finding is one attack at one scope. The JSON names are part of the command
// line.
type Finding struct {
	Attack    string      `json:"attack"`
	Adversary Adversary   `json:"adversary"`
	Scope     lethe.Scope `json:"scope"`
	// Control is the attack on its positive control, Result that on the
	// deployment after the erasure.
	Control Measured `json:"control"`
	Result  Measured `json:"result"`
	// Before is the attack on the deployment before the erasure, when members
	// were in it; nil where there is no such thing.
	Before *Measured `json:"before,omitempty"`
	// NeverHeld is the same attack on records that were never sent; nil where
	// that is 0.5 by construction.
	NeverHeld *Measured `json:"never_held,omitempty"`
	// Confidence is that of the intervals.
	Confidence float64 `json:"confidence"`
	// DegradationCount and DegradationRate compare an attack on both versions
	// with the classical one on the models before.
	DegradationCount *float64 `json:"degradation_count,omitempty"`
	DegradationRate  *float64 `json:"degradation_rate,omitempty"`
	// Samples counts what was scored: targets, pairs or neighbours.
	Samples int     `json:"samples"`
	Verdict Verdict `json:"verdict"`
}

// Erasure is one request of the deployment.
type Erasure struct {
	RequestID       string          `json:"request_id"`
	Scope           lethe.Scope     `json:"scope"`
	State           deletions.State `json:"state"`
	Nodes           int             `json:"nodes"`
	SlicesReplaced  int             `json:"slices_replaced"`
	ShardsRetrained int             `json:"shards_retrained"`
	Seconds         float64         `json:"seconds"`
}

// Report is the outcome of Run. The JSON names are part of the command line.
type Report struct {
	Dataset      string    `json:"dataset"`
	Timesteps    int       `json:"timesteps"`
	Transactions int       `json:"transactions"`
	Shards       int       `json:"shards"`
	Targets      int       `json:"targets"`
	Requests     int       `json:"requests"`
	Mislabelled  bool      `json:"mislabelled"`
	Seed         uint64    `json:"seed"`
	Erasures     []Erasure `json:"erasures"`
	Findings     []Finding `json:"findings"`
	// LeaksAtStubs says that an attack on what is left after an erasure at scope
	// stubs found a signal. Attacks on both versions do not count: they see by
	// design that something changed.
	LeaksAtStubs bool    `json:"leaks_at_stubs"`
	Seconds      float64 `json:"seconds"`
}

// conclude fills in the intervals and verdicts once all findings are there.
func (r *Report) conclude() {
	type family struct {
		adversary Adversary
		scope     lethe.Scope
	}
	sizes := make(map[family]int)
	for _, f := range r.Findings {
		sizes[family{f.Adversary, f.Scope}]++
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.conclude(1 - (1-familyConfidence)/float64(sizes[family{f.Adversary, f.Scope}]))
		if f.Scope == lethe.ScopeStubs && f.Adversary != BothVersions && f.Verdict == Leaks {
			r.LeaksAtStubs = true
		}
	}
}

// conclude judges one finding at a confidence.
func (f *Finding) conclude(confidence float64) {
	f.Confidence = confidence
	for _, m := range []*Measured{&f.Control, &f.Result, f.Before, f.NeverHeld} {
		if m != nil {
			m.AUC, m.Interval = m.estimate.AUC, m.estimate.Interval(confidence)
		}
	}
	power := f.Control.AUC >= controlAUC && f.Control.Interval.Low > .5
	signal := !f.Result.Interval.Contains(.5)
	if f.NeverHeld != nil {
		// What the data alone tells is no leak: the attack has to be better than
		// on records that were never sent.
		power = power && f.Control.estimate.Excess(f.NeverHeld.estimate, confidence).Low > 0
		signal = !f.Result.estimate.Excess(f.NeverHeld.estimate, confidence).Contains(0)
	}
	switch {
	case !power:
		f.Verdict = NoPower
	case signal:
		f.Verdict = Leaks
	default:
		f.Verdict = NoSignal
	}
}
