package events

import (
	"time"

	"lethe"
)

// SnapshotChanged reports that a timestep reached a state. Duration is the time that building the
// graph took, and is 0 for lethe.Open.
type SnapshotChanged struct {
	Timestep lethe.Timestep
	State    lethe.State
	Duration time.Duration
}

// SnapshotPartitioned reports the scores of a timestep's partition, as package partition defines
// them. Fractions are of 1.
type SnapshotPartitioned struct {
	Timestep lethe.Timestep
	Balance  float64
	Fairness float64
	EdgeCut  float64
	Duration time.Duration
}

// TrainReason is why a shard was trained.
type TrainReason string

// The reasons.
const (
	// Update: a timestep settled.
	Update TrainReason = "update"
	// Unlearn: a slice was replaced, and training was replayed from there.
	Unlearn TrainReason = "unlearn"
)

// TrainReasons lists every reason.
func TrainReasons() []TrainReason { return []TrainReason{Update, Unlearn} }

// ShardTrained reports that one shard was trained through Timestep in Steps optimisation steps. A
// replay of several timesteps is one event for each.
type ShardTrained struct {
	// Model is the kind of model.
	Model    string
	Timestep lethe.Timestep
	Reason   TrainReason
	Steps    int
	Duration time.Duration
}

// EnsembleSwapped reports that the models trained through Timestep are served.
type EnsembleSwapped struct {
	Timestep lethe.Timestep
	Version  lethe.Digest
}

// SnapshotScored reports that a timestep's predictions have been published. Illicit has the
// probabilities of illicit, in no particular order; IllicitCount is how many were classified as
// illicit. The listener must not retain or change the slice.
type SnapshotScored struct {
	Timestep     lethe.Timestep
	Illicit      []float64
	IllicitCount int
	Duration     time.Duration
}

// ReasonsOwed reports how many alerts have predictions but no reasons yet.
type ReasonsOwed struct{ Alerts int }

// ProvisionallyScored reports that provisional predictions for transactions of an open timestep
// have been published. Delays are measured from the writing of the scored records, for those that
// arrived while lethe ran. Duration is that of the pass. The listener must not retain or change the
// slice.
type ProvisionallyScored struct {
	Predictions int
	Delays      []time.Duration
	Duration    time.Duration
}

// QualityMeasured compares a timestep's predictions, made before its labels were seen, with the
// labels. An undefined measure, such as the AUC if only one class occurs, is NaN. Fractions are of
// 1.
type QualityMeasured struct {
	Timestep  lethe.Timestep
	AUC       float64
	MacroF1   float64
	IllicitF1 float64
	// CalibrationError is the expected calibration error of the probabilities of illicit.
	CalibrationError float64
}
