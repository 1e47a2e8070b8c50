package protocol

import (
	"time"

	"lethe"
	"lethe/lab/propagation"
	"lethe/scoring/quality"
	"lethe/trainer/kernels"
)

// Runtime is what the protocol may use of the outside world. It reaches no
// figure but the seconds.
type Runtime struct {
	Kernels kernels.Set
	// Workers is how many shards train side by side; at least 1.
	Workers int
	// Now is the clock behind the seconds.
	Now func() time.Time
	// Used is the processor time of the process so far. Forget and Infer need it.
	Used func() time.Duration
	// Partitions and Ensembles, if set, are kept for the next calls.
	Partitions *Partitions
	Ensembles  *Ensembles
	// Checkpoints, if set, keeps every shard of the ensemble when it is trained. A shard that it
	// has is not trained again: Epoch is not called for its steps, but Resumed, if set, with
	// their number.
	Checkpoints Checkpoints
	Resumed     func(shard lethe.ShardID, steps int)
	// Epoch, if set, is called with every optimiser step of every shard, and with
	// every fit of a model that has none, from several goroutines at once.
	Epoch func(Epoch)
}

// Epoch is one optimiser step of one shard.
type Epoch struct {
	Shard lethe.ShardID
	// Timestep is that of the slice; 0 for a graph.
	Timestep lethe.Timestep
	// Epoch counts from 1 to Epochs.
	Epoch, Epochs int
	// Loss is the training loss before the step.
	Loss float64
}

// Reading is the quality of one ensemble under one way of asking it.
type Reading struct {
	Aggregate  string `json:"aggregate"`
	Propagated bool   `json:"propagated,omitempty"`
	// Propagation says, on a stream, how labels were propagated and what on the
	// validation timesteps spoke for it; nil where no label was known.
	Propagation *propagation.Choice `json:"propagation,omitempty"`
	// Unlabelled marks the control beside a stream's propagated reading: the same
	// settings without the known labels. What it gains is not the labels' doing.
	Unlabelled bool `json:"unlabelled,omitempty"`
	// Test measures the test nodes, or the labelled ones of the test timesteps.
	Test quality.Summary `json:"test"`
	// AllNodes is the accuracy over training and test nodes together.
	AllNodes float64 `json:"all_nodes"`
	// PerStep measures the test timesteps one by one; empty for a graph.
	PerStep []StepReading `json:"per_step,omitempty"`
}

// StepReading is the quality on one timestep.
type StepReading struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Part is train, validation or test.
	Part string `json:"part"`
	quality.Summary
}

// Outcome is everything measured of one ensemble.
type Outcome struct {
	Readings []Reading `json:"readings"`
	Shape    Shape     `json:"shape"`
	// PartitionSeconds and TrainSeconds are wall time; TrainSeconds depends on
	// the number of workers.
	PartitionSeconds float64 `json:"partition_seconds"`
	TrainSeconds     float64 `json:"train_seconds"`
	// Steps counts the optimiser's steps over all shards.
	Steps int `json:"steps"`
	// EnsembleHash names the trained bytes.
	EnsembleHash lethe.Digest `json:"ensemble_hash"`
}

// Shape is the form of a partition.
type Shape struct {
	Nodes    int     `json:"nodes"`
	Edges    int     `json:"edges"`
	Balance  float64 `json:"balance"`
	Fairness float64 `json:"fairness"`
	EdgeCut  float64 `json:"edge_cut"`
	Sizes    []int   `json:"sizes,omitempty"`
	// ShardsPerErasure is how many shards the erasure of one node touches at
	// scope stubs, its own and those that hold a stub for it, on average.
	ShardsPerErasure float64 `json:"shards_per_erasure"`
}

// Reading returns the reading of a kind, if it was asked for.
func (o *Outcome) Reading(aggregate string, propagated bool) (Reading, bool) {
	for _, r := range o.Readings {
		if r.Aggregate == aggregate && r.Propagated == propagated && !r.Unlabelled {
			return r, true
		}
	}
	return Reading{}, false
}

// Control returns the control of a propagated reading; streams have one.
func (o *Outcome) Control(aggregate string) (Reading, bool) {
	for _, r := range o.Readings {
		if r.Aggregate == aggregate && r.Unlabelled {
			return r, true
		}
	}
	return Reading{}, false
}
