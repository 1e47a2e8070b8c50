package role

import (
	"maps"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/scoring/quality"
)

// Status is what roles know. A role leaves zero what is not its business, so
// that the statuses of all roles can be put together.
type Status struct {
	Steps map[lethe.Timestep]Step
	// FeatureCount is the number of features of every transaction, 0 while it is not
	// known.
	FeatureCount int
	// Erasures counts the requests by state.
	Erasures map[deletions.State]int
	// Awaited are the data directories that erasures have waited for for long.
	Awaited []deletions.Awaited
	// Ensemble is what is served, nil if nothing is.
	Ensemble *Ensemble
	// Consumed is how far the source topics have been read: the next offset, by
	// partition. It is nil for roles that read none.
	Consumed map[bus.TopicPartition]int64
	// Watermarks are, by partition, the oldest timesteps of transactions and labels that have not ended there; Newest is
	// when the latest record was written that this process has read. Both are nil for roles that read no sources.
	Watermarks map[bus.TopicPartition]lethe.Timestep
	Newest     map[bus.TopicPartition]time.Time
	// LeftToLeader are source topics that a process that stands by does not read: nothing there waits for it.
	LeftToLeader []bus.Topic
}

// Step is what is known of one timestep.
type Step struct {
	// State is 0 where only predictions are known.
	State lethe.State
	// Nodes, Payments and Labels are counts of the graph.
	Nodes, Payments, Labels int
	// Predictions counts what was published and not withdrawn.
	Predictions int
	// Quality compares the predictions with the labels that came in later; nil
	// until both are there.
	Quality *quality.Summary
}

// Ensemble names the served models.
type Ensemble struct {
	Version lethe.Digest
	// Through is the last timestep they learnt from.
	Through lethe.Timestep
}

// Merge puts together what several roles know. Each fact is known by one role.
func Merge(all ...*Status) *Status {
	out := &Status{Steps: make(map[lethe.Timestep]Step), Erasures: make(map[deletions.State]int)}
	for _, s := range all {
		for t, step := range s.Steps {
			out.Steps[t] = out.Steps[t].with(step)
		}
		maps.Copy(out.Erasures, s.Erasures)
		out.Awaited = append(out.Awaited, s.Awaited...)
		out.FeatureCount = max(out.FeatureCount, s.FeatureCount)
		if s.Ensemble != nil {
			out.Ensemble = s.Ensemble
		}
		if s.Consumed != nil {
			out.Consumed, out.LeftToLeader = s.Consumed, s.LeftToLeader
			out.Watermarks, out.Newest = s.Watermarks, s.Newest
		}
	}
	return out
}

func (s Step) with(o Step) Step {
	if o.State != 0 {
		s.State, s.Nodes, s.Payments, s.Labels = o.State, o.Nodes, o.Payments, o.Labels
	}
	if o.Predictions != 0 || o.Quality != nil {
		s.Predictions, s.Quality = o.Predictions, o.Quality
	}
	return s
}

// Count counts the timesteps in a state.
func (s *Status) Count(state lethe.State) int {
	n := 0
	for _, step := range s.Steps {
		if step.State == state {
			n++
		}
	}
	return n
}

// Transactions counts those in graphs and in open timesteps.
func (s *Status) Transactions() int {
	n := 0
	for _, step := range s.Steps {
		n += step.Nodes
	}
	return n
}

// Predictions counts what was published and not withdrawn.
func (s *Status) Predictions() int {
	n := 0
	for _, step := range s.Steps {
		n += step.Predictions
	}
	return n
}
