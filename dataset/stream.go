package dataset

import (
	"fmt"

	"lethe"
)

// Stream is a data set in stream order, completely in memory.
type Stream struct {
	// Name identifies data sets in reports: the directory's name, or "generated".
	Name string
	// FeatureCount is the number of features of every transaction.
	FeatureCount int
	// FeatureNames has a name for each feature, or is nil if the data set has no names.
	FeatureNames []string
	// Steps ascend by timestep; every one holds at least one transaction.
	Steps []Step
	// Repeated counts duplicate rows of payments in the files. Each payment is in the stream once.
	Repeated int
}

// Step is the data that arrives for one timestep.
type Step struct {
	Timestep     lethe.Timestep
	Transactions []lethe.Transaction
	// Payments belong to the timestep of their source.
	Payments []lethe.Payment
	// Labels holds the illicit and the licit ones, in the order of the transactions. The class of
	// a transaction without a label is unknown.
	Labels []lethe.LabelRecord
	// Truth is the generator's ground truth; nil for loaded data.
	Truth *Truth
}

// Totals counts the content of a stream.
type Totals struct {
	Steps, Transactions, Payments int
	// Labels is indexed by lethe.Label. Unknown counts the transactions without a label.
	Labels [lethe.NumLabels]int
}

// Totals counts over all steps.
func (s *Stream) Totals() Totals {
	out := Totals{Steps: len(s.Steps)}
	for i := range s.Steps {
		step := s.Steps[i].Totals()
		out.Transactions += step.Transactions
		out.Payments += step.Payments
		for l, n := range step.Labels {
			out.Labels[l] += n
		}
	}
	return out
}

// Totals counts within the step.
func (s *Step) Totals() Totals {
	out := Totals{Steps: 1, Transactions: len(s.Transactions), Payments: len(s.Payments)}
	for _, l := range s.Labels {
		out.Labels[l.Label]++
	}
	out.Labels[lethe.Unknown] = len(s.Transactions) - out.Labels[lethe.Licit] - out.Labels[lethe.Illicit]
	return out
}

// Range returns the first and the last timestep. Both are lethe.NoTimestep if the stream is empty.
func (s *Stream) Range() (first, last lethe.Timestep) {
	if len(s.Steps) == 0 {
		return lethe.NoTimestep, lethe.NoTimestep
	}
	return s.Steps[0].Timestep, s.Steps[len(s.Steps)-1].Timestep
}

// Slice returns the stream of the steps from..to, inclusive. It shares the steps with s. A reversed
// range, or one beyond the stream, is an error: the user has probably confused the data set.
func (s *Stream) Slice(from, to lethe.Timestep) (*Stream, error) {
	if from > to {
		return nil, fmt.Errorf("timesteps %d-%d: the first is after the last", from, to)
	}
	first, last := s.Range()
	if len(s.Steps) == 0 {
		return nil, fmt.Errorf("timesteps %d-%d: the data set holds no timestep", from, to)
	}
	if from < first || to > last {
		return nil, fmt.Errorf("timesteps %d-%d: the data set holds %d-%d", from, to, first, last)
	}
	out := &Stream{Name: s.Name, FeatureCount: s.FeatureCount, FeatureNames: s.FeatureNames, Repeated: s.Repeated}
	for _, step := range s.Steps {
		if step.Timestep >= from && step.Timestep <= to {
			out.Steps = append(out.Steps, step)
		}
	}
	if len(out.Steps) == 0 {
		return nil, fmt.Errorf("timesteps %d-%d: the data set holds %d-%d, but none of these", from, to, first, last)
	}
	return out, nil
}
