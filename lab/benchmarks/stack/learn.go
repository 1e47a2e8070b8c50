package main

import (
	"lethe"
	"lethe/canonical"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
)

// add appends the labelled nodes of a timestep, of which logits are by component.
func add(rows *stack.Rows, logits [][]float64, labels []lethe.Label) {
	for node, label := range labels {
		if label == lethe.Unknown {
			continue
		}
		for _, of := range logits {
			rows.Logits = append(rows.Logits, of[node])
		}
		rows.Illicit = append(rows.Illicit, label == lethe.Illicit)
	}
}

// rowsOf returns the rows with some of the components.
func rowsOf(all stack.Rows, members []int) stack.Rows {
	out := stack.Rows{Components: len(members), Illicit: all.Illicit}
	for i := range all.Illicit {
		for _, k := range members {
			out.Logits = append(out.Logits, all.Logits[i*all.Components+k])
		}
	}
	return out
}

// learn fits to out-of-group rows what the service serves; unless it is weighed, the
// combination is the mean logit.
func learn(c meta.Config, from stack.Rows, weighed bool) (*meta.Model, error) {
	if weighed {
		return meta.Fit(from, c)
	}
	// Without rows it is the mean logit.
	mean, err := stack.Fit(stack.Rows{Components: from.Components}, c.Stack)
	if err != nil {
		return nil, err
	}
	return meta.FitOver(mean, from, c)
}

// digestOf names combination and calibration.
func digestOf(m *meta.Model) lethe.Digest {
	return canonical.DigestOf(append(m.Combination.Encode(), m.Calibration.Encode()...))
}
