package dataset_test

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/dataset"
)

// validate checks the invariants of Stream and Step: those of what is read and generated.
func validate(s *dataset.Stream) error {
	var problems []error
	if s.FeatureCount < 1 {
		problems = append(problems, fmt.Errorf("%d features, want at least 1", s.FeatureCount))
	}
	if n := len(s.FeatureNames); n > 0 && n != s.FeatureCount {
		problems = append(problems, fmt.Errorf("%d names for %d features", n, s.FeatureCount))
	}
	seen := make(map[lethe.TransactionID]lethe.Timestep)
	previous := lethe.NoTimestep
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Timestep <= previous {
			problems = append(problems, fmt.Errorf("timestep %d follows %d, want ascending and not negative", step.Timestep,
				previous))
		}
		previous = step.Timestep
		if err := validateStep(step, s.FeatureCount, seen); err != nil {
			problems = append(problems, fmt.Errorf("timestep %d: %w", step.Timestep, err))
		}
	}
	return errors.Join(problems...)
}

// validateStep checks one step; seen holds all earlier ids, and the step's are added.
func validateStep(s *dataset.Step, featureCount int, seen map[lethe.TransactionID]lethe.Timestep) error {
	if len(s.Transactions) == 0 {
		return errors.New("no transaction")
	}
	for i := range s.Transactions {
		tx := &s.Transactions[i]
		if !lethe.ValidID(string(tx.ID)) {
			return fmt.Errorf("transaction %d: it has no id", i)
		}
		if _, twice := seen[tx.ID]; twice {
			return fmt.Errorf("transaction %d: the id occurs before", i)
		}
		if tx.Timestep != s.Timestep {
			return fmt.Errorf("transaction %d: is of timestep %d", i, tx.Timestep)
		}
		if len(tx.Features) != featureCount {
			return fmt.Errorf("transaction %d: %d features, want %d", i, len(tx.Features), featureCount)
		}
		if slices.ContainsFunc(tx.Features, func(v float32) bool { return math.IsInf(float64(v), 0) }) {
			return fmt.Errorf("transaction %d: a feature is infinite", i)
		}
		seen[tx.ID] = s.Timestep
	}
	return validateLabels(s, seen)
}

func validateLabels(s *dataset.Step, seen map[lethe.TransactionID]lethe.Timestep) error {
	labelled := make(map[lethe.TransactionID]bool, len(s.Labels))
	for i, l := range s.Labels {
		if at, ok := seen[l.ID]; !ok || at != s.Timestep || l.Timestep != s.Timestep {
			return fmt.Errorf("label %d: names no transaction of this timestep", i)
		}
		if l.Label != lethe.Licit && l.Label != lethe.Illicit {
			return fmt.Errorf("label %d: is %s, want licit or illicit", i, l.Label)
		}
		if labelled[l.ID] {
			return fmt.Errorf("label %d: the transaction has a label already", i)
		}
		labelled[l.ID] = true
	}
	for i, p := range s.Payments {
		if p.Timestep != s.Timestep {
			return fmt.Errorf("payment %d: is of timestep %d", i, p.Timestep)
		}
		if !lethe.ValidID(string(p.Source)) || !lethe.ValidID(string(p.Target)) {
			return fmt.Errorf("payment %d: an end is no id", i)
		}
	}
	return nil
}
