package role

import (
	"maps"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/scoring/quality"
)

// Status is the status of a role, or of several. Fields of other roles are zero, so that statuses can be merged.
type Status struct {
	Steps map[lethe.Timestep]Step
	// FeatureCount is the number of features of every transaction, 0 if unknown.
	FeatureCount int
	// Erasures counts the requests by state.
	Erasures map[deletions.State]int
	// Waits are the causes that open requests wait for.
	Waits deletions.Waits
	// Ensemble is the served ensemble, or nil.
	Ensemble *Ensemble
	// Awaited are the models that are not there yet.
	Awaited Awaited
	// Consumed are the next offsets of source topics; nil for roles that read none.
	Consumed map[bus.TopicPartition]int64
	// Watermarks are the oldest timesteps that partitions of transactions and labels have not completed; Newest are the
	// times of their latest records. Both are nil for roles that read no sources.
	Watermarks map[bus.TopicPartition]lethe.Timestep
	Newest     map[bus.TopicPartition]time.Time
	// LeftToLeader are source topics that a standby does not read.
	LeftToLeader []bus.Topic
	// ReasonsPending counts the alerts whose reasons are to be published.
	ReasonsPending int
}

// Step is the status of a timestep.
type Step struct {
	// State is 0 if only predictions are known.
	State lethe.State
	// Nodes, Payments and Labels are counts of the graph.
	Nodes, Payments, Labels int
	// Predictions counts published predictions that were not withdrawn.
	Predictions int
	// Quality compares predictions with later labels; nil until both exist.
	Quality *quality.Summary
}

// Ensemble identifies the served models.
type Ensemble struct {
	Version lethe.Digest
	// Through is the last timestep that they learnt from.
	Through lethe.Timestep
}

// Awaited is the newest ensemble that is to be served. The zero value means that it is served, or that the role
// serves none.
type Awaited struct {
	// Through is the last timestep of the ensemble. It counts only if Models is not 0.
	Through lethe.Timestep
	// Present of so many Models are there.
	Present, Models int
}

// Merge merges the statuses of several roles. Each field is of one role.
func Merge(all ...*Status) *Status {
	out := &Status{Steps: make(map[lethe.Timestep]Step), Erasures: make(map[deletions.State]int)}
	for _, s := range all {
		for t, step := range s.Steps {
			out.Steps[t] = out.Steps[t].with(step)
		}
		maps.Copy(out.Erasures, s.Erasures)
		out.ReasonsPending += s.ReasonsPending
		out.FeatureCount = max(out.FeatureCount, s.FeatureCount)
		if s.Ensemble != nil {
			out.Ensemble = s.Ensemble
		}
		if s.Awaited.Models > 0 {
			out.Awaited = s.Awaited
		}
		if len(s.Erasures) > 0 {
			out.Waits = s.Waits
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

// Transactions counts transactions of graphs and of open timesteps.
func (s *Status) Transactions() int {
	n := 0
	for _, step := range s.Steps {
		n += step.Nodes
	}
	return n
}

// Predictions counts published predictions that were not withdrawn.
func (s *Status) Predictions() int {
	n := 0
	for _, step := range s.Steps {
		n += step.Predictions
	}
	return n
}
