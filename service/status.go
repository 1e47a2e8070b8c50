package service

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/scoring"
)

// Status is the state of a running service, as /api/v1/status and lethe status
// give it. Counts are of the roles that the process plays.
type Status struct {
	Timesteps    TimestepCounts `json:"timesteps"`
	Transactions int            `json:"transactions"`
	Predictions  int            `json:"predictions"`
	// LagRecords counts the source records that have not been consumed.
	LagRecords int64 `json:"lag_records"`
	// EnsembleHash names the served models; empty if there are none yet.
	EnsembleHash string `json:"ensemble_hash"`
	// TrainedThrough is the last timestep the served models learnt from, or -1.
	TrainedThrough lethe.Timestep          `json:"trained_through"`
	Erasures       map[deletions.State]int `json:"erasures"`
	Steps          []StepStatus            `json:"steps"`
	Roles          []string                `json:"roles"`
	Version        string                  `json:"version"`
}

// TimestepCounts counts timesteps by state.
type TimestepCounts struct {
	Open    int `json:"open"`
	Closed  int `json:"closed"`
	Settled int `json:"settled"`
}

// StepStatus is one timestep.
type StepStatus struct {
	Timestep    lethe.Timestep `json:"timestep"`
	State       string         `json:"state"`
	Nodes       int            `json:"nodes"`
	Payments    int            `json:"payments"`
	Labels      int            `json:"labels"`
	Predictions int            `json:"predictions"`
	// Quality compares the predictions with the labels that came in later; null
	// until both are there.
	Quality *scoring.Summary `json:"quality"`
}

// Status puts together what the roles say of themselves.
func (s *Service) Status(ctx context.Context) (*Status, error) {
	out := &Status{
		TrainedThrough: lethe.NoTimestep, Erasures: make(map[deletions.State]int),
		Steps: []StepStatus{}, Roles: s.config.Roles, Version: s.o.Version,
	}
	steps := make(map[lethe.Timestep]*StepStatus)
	if s.build != nil {
		b := s.build.Status()
		out.Timesteps = TimestepCounts{b.Open, b.Closed, b.Settled}
		out.Transactions = b.Transactions
		maps.Copy(out.Erasures, b.Erasures)
		for _, step := range b.Steps {
			steps[step.Timestep] = &StepStatus{
				Timestep: step.Timestep, State: step.State.String(),
				Nodes: step.Nodes, Payments: step.Payments, Labels: step.Labels,
			}
		}
		lag, err := s.lag(ctx, b.Offsets)
		if err != nil {
			return nil, err
		}
		out.LagRecords = lag
	}
	if s.score != nil {
		c := s.score.Status()
		out.Predictions, out.TrainedThrough = c.Predictions, c.TrainedThrough
		if !c.EnsembleVersion.IsZero() {
			out.EnsembleHash = c.EnsembleVersion.String()
		}
		for t, q := range c.Quality {
			if steps[t] == nil {
				steps[t] = &StepStatus{Timestep: t}
			}
			steps[t].Predictions, steps[t].Quality = q.Predictions, q.Summary
		}
	}
	for _, t := range slices.Sorted(maps.Keys(steps)) {
		out.Steps = append(out.Steps, *steps[t])
	}
	return out, nil
}

// lag counts the records between where the build role is and the ends of its
// source topics.
func (s *Service) lag(ctx context.Context, offsets map[bus.TopicPartition]int64) (int64, error) {
	var total int64
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures} {
		ends, err := s.client.EndOffsets(ctx, topic)
		if err != nil {
			return 0, fmt.Errorf("lag of %s: %w", topic, err)
		}
		for p, end := range ends {
			total += max(0, end-offsets[bus.TopicPartition{Topic: topic, Partition: p}])
		}
	}
	return total, nil
}
