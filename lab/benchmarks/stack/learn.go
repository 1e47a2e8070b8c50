package main

import (
	"lethe"
	"lethe/canonical"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/stack"
)

// rules say how logits become probabilities and classes.
type rules struct {
	stack     stack.Config
	calibrate calibrate.Config
	threshold decision.Rule
}

// digest names the rules.
func (r rules) digest() lethe.Digest {
	w := canonical.NewDigester("LRUL", 1)
	r.stack.Append(w)
	r.calibrate.Append(w)
	w.String(r.threshold.String())
	return w.Digest()
}

// rows are labelled nodes with a logit per component, row-major.
type rows struct {
	components int
	logits     []float64
	labels     []lethe.Label
}

// add appends the labelled nodes of a timestep, of which logits are by component.
func (r *rows) add(logits [][]float64, labels []lethe.Label) {
	for node, label := range labels {
		if label == lethe.Unknown {
			continue
		}
		for _, of := range logits {
			r.logits = append(r.logits, of[node])
		}
		r.labels = append(r.labels, label)
	}
}

// of returns the rows with some of the components.
func (r *rows) of(members []int) rows {
	out := rows{components: len(members), labels: r.labels}
	for i := range r.labels {
		for _, k := range members {
			out.logits = append(out.logits, r.logits[i*r.components+k])
		}
	}
	return out
}

// row returns the logits of a row.
func (r *rows) row(i int) []float64 { return r.logits[i*r.components : (i+1)*r.components] }

// learnt is what an ensemble's logits are made to probabilities and classes with.
type learnt struct {
	combination *stack.Combination
	calibration *calibrate.Calibration
	threshold   float64
}

// learn fits to out-of-group rows: a combination, unless it is to be the mean logit,
// a calibration of its logits and a threshold.
func (r rules) learn(from rows, weighed bool) (*learnt, error) {
	illicit := make([]bool, len(from.labels))
	for i, label := range from.labels {
		illicit[i] = label == lethe.Illicit
	}
	// Without rows it is the mean logit.
	z := stack.Rows{Components: from.components}
	if weighed {
		z.Logits, z.Illicit = from.logits, illicit
	}
	combination, err := stack.Fit(z, r.stack)
	if err != nil {
		return nil, err
	}
	combined := make([]float64, len(illicit))
	for i := range combined {
		combined[i] = combination.Logit(from.row(i))
	}
	calibration, err := calibrate.Fit(combined, illicit, r.calibrate)
	if err != nil {
		return nil, err
	}
	// What is used is what was written, as where it is served.
	out := new(learnt)
	if out.combination, err = stack.Decode(combination.Encode()); err != nil {
		return nil, err
	}
	if out.calibration, err = calibrate.Decode(calibration.Encode()); err != nil {
		return nil, err
	}
	probabilities := make([]float64, len(combined))
	for i, logit := range combined {
		probabilities[i] = out.calibration.Apply(logit)
	}
	if !r.threshold.PerTimestep() {
		out.threshold = decision.Choose(r.threshold, probabilities, from.labels)
	}
	return out, nil
}

// digest names what was learnt.
func (l *learnt) digest() lethe.Digest {
	return canonical.DigestOf(append(l.combination.Encode(), l.calibration.Encode()...))
}

// score returns the probability of illicit of every node, of which logits are by
// component, and the threshold of the class.
func (l *learnt) score(rule decision.Rule, logits [][]float64) (probabilities []float64, threshold float64) {
	probabilities = make([]float64, len(logits[0]))
	row := make([]float64, len(logits))
	for node := range probabilities {
		for k := range logits {
			row[k] = logits[k][node]
		}
		probabilities[node] = l.calibration.Apply(l.combination.Logit(row))
	}
	if rule.PerTimestep() {
		return probabilities, decision.Choose(rule, probabilities, nil)
	}
	return probabilities, l.threshold
}
