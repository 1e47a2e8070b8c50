package meta

import (
	"fmt"

	"lethe"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/stack"
)

// Fit learns combination, calibration and threshold from labelled rows, whose logits must come from
// models that have not learned from them. The caller must set Timestep and Lineage of the result.
//
// Errors are those of stack.Fit and calibrate.Fit.
func Fit(rows stack.Rows, c Config) (*Model, error) {
	combination, err := stack.Fit(rows, c.Stack)
	if err != nil {
		return nil, err
	}
	return FitOver(combination, rows, c)
}

// FitOver is Fit with a given combination: only calibration and threshold are learned.
func FitOver(combination *stack.Combination, rows stack.Rows, c Config) (*Model, error) {
	var err error
	m := &Model{Combination: combination, Threshold: decision.Undecided, Rows: len(rows.Illicit)}
	combined := make([]float64, len(rows.Illicit))
	labels := make([]lethe.Label, len(rows.Illicit))
	for i, illicit := range rows.Illicit {
		combined[i] = combination.Logit(rows.Logits[i*rows.Components : (i+1)*rows.Components])
		if labels[i] = lethe.Licit; illicit {
			labels[i] = lethe.Illicit
			m.Illicit++
		}
	}
	if m.Calibration, err = calibrate.Fit(combined, rows.Illicit, c.Calibration); err != nil {
		return nil, fmt.Errorf("meta-model: %w", err)
	}
	if !c.Threshold.PerTimestep() {
		probabilities := make([]float64, len(combined))
		for i, logit := range combined {
			probabilities[i] = min(1, max(0, m.Calibration.Apply(logit)))
		}
		m.Threshold = decision.Choose(c.Threshold, probabilities, labels)
	}
	return m, nil
}
