package service

import (
	"context"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/role"
	"lethe/scoring/quality"
	"lethe/service/waiting"
)

// Status is the state of a running service, as returned by /api/v1/status and lethe status. Counts
// cover the roles of the process.
type Status struct {
	Timesteps    TimestepCounts `json:"timesteps"`
	Transactions int            `json:"transactions"`
	Predictions  int            `json:"predictions"`
	// ReasonsPending counts the alerts that wait for their reasons.
	ReasonsPending int `json:"reasons_pending"`
	// LagRecords counts the source records that have not been consumed, -1 if the brokers do not
	// respond in time.
	LagRecords int64 `json:"lag_records"`
	// EnsembleHash identifies the served models; empty if there are none yet.
	EnsembleHash string `json:"ensemble_hash"`
	// TrainedThrough is the last timestep that the served models learned from, or -1.
	TrainedThrough lethe.Timestep          `json:"trained_through"`
	Erasures       map[deletions.State]int `json:"erasures"`
	Steps          []StepStatus            `json:"steps"`
	// FeatureCount is the number of features of every transaction, 0 while it is unknown.
	FeatureCount int `json:"feature_count"`
	// Deployment is the deployment named in receipts.
	Deployment lethe.DeploymentID `json:"deployment"`
	Roles      []string           `json:"roles"`
	// RejectedRecords counts the records that this process has rejected since it began: they are dead
	// letters.
	RejectedRecords int64 `json:"rejected_records"`
	// Waiting lists current waits, and the party that has to act.
	Waiting []waiting.Wait `json:"waiting"`
	// DiskBytes are the bytes of the files in the data directory by owner, such as train, build and broker, as of
	// a few seconds ago.
	DiskBytes map[string]int64 `json:"disk_bytes"`
	// RequestSigners is how many people of the role compliance must sign an erasure request, which may be
	// 0.
	RequestSigners int    `json:"request_signers"`
	Version        string `json:"version"`
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
	// Quality compares the predictions with the labels that arrived later; null until both exist.
	Quality *quality.Summary `json:"quality"`
}

// Status combines the states of the roles, and queries the brokers for the lag. If they do not
// respond before the context ends, everything else is returned with the error.
func (s *Service) Status(ctx context.Context) (*Status, error) {
	known := knownBy(s.roles)
	lag, err := s.lag(ctx, known)
	out := &Status{
		Timesteps:    TimestepCounts{known.Count(lethe.Open), known.Count(lethe.Closed), known.Count(lethe.Settled)},
		Transactions: known.Transactions(), Predictions: known.Predictions(), LagRecords: lag,
		ReasonsPending: known.ReasonsPending,
		TrainedThrough: lethe.NoTimestep, Erasures: known.Erasures,
		Steps: []StepStatus{}, FeatureCount: known.FeatureCount,
		Deployment: s.secret.Deployment(s.config.Kafka.TopicPrefix), Roles: s.config.Plays(), Version: s.o.Version,
		RejectedRecords: s.waits.intake.Rejected(), Waiting: s.waits.latest(),
		RequestSigners: s.config.Signatures.Requests, DiskBytes: s.sizes.Of(s.config.DataDir, s.o.Now()),
	}
	if e := known.Ensemble; e != nil {
		out.EnsembleHash, out.TrainedThrough = e.Version.String(), e.Through
	}
	for _, t := range slices.Sorted(maps.Keys(known.Steps)) {
		out.Steps = append(out.Steps, stepStatus(t, known.Steps[t]))
	}
	return out, err
}

// knownBy combines the states of the roles.
func knownBy(roles []role.Role) *role.Status {
	var statuses []*role.Status
	for _, r := range roles {
		statuses = append(statuses, r.Status())
	}
	return role.Merge(statuses...)
}

// stepStatus leaves the state empty if only predictions are known.
func stepStatus(t lethe.Timestep, step role.Step) StepStatus {
	out := StepStatus{
		Timestep: t, Nodes: step.Nodes, Payments: step.Payments, Labels: step.Labels,
		Predictions: step.Predictions, Quality: step.Quality,
	}
	if step.State != 0 {
		out.State = step.State.String()
	}
	return out
}
