package dataset

import (
	"lethe"
	"lethe/internal/check"
)

// GenerateOptions configures Generate; start with GenerateDefaults.
type GenerateOptions struct {
	// Steps is the number of timesteps, numbered from 1.
	Steps int `help:"Number of timesteps."`
	// NodesPerStep is the number of transactions of every step, at least 20.
	NodesPerStep int `help:"Transactions per timestep."`
	// Features is the number of features, at least 2. Of 165, the number in Elliptic without the
	// timestep, 94 are local, the others are computed from the neighbours'.
	Features int `help:"Features per transaction."`
	// Seed keys every draw.
	Seed uint64 `help:"Seed of everything random: equal seeds give equal files."`
	// IllicitFraction and LicitFraction are the shares of transactions that
	// carry these labels; the others are unknown.
	IllicitFraction, LicitFraction float64
	// DriftStep is the first timestep at which laundering looks and is organised differently. Its
	// default does not depend on Steps, because a longer stream has to begin with the bytes of a
	// shorter one. A step beyond the last means no drift.
	DriftStep lethe.Timestep
}

// hiddenPerLabelled is how many illicit transactions stay unknown for each that was found:
// investigators find fewer than half. At the default fractions 3 % of the unknown transactions are
// illicit, against 9 % of the labelled ones, because investigators check suspicious ones first.
const hiddenPerLabelled = 1.2

// minLabelledIllicit is the minimum of every step, so that a model can learn from a small stream.
const minLabelledIllicit = 4

// Bounds of the options. maxNodes keeps ids at Elliptic's nine digits.
const (
	minNodesPerStep = 20
	minFeatures     = 2
	maxFeatures     = 4096 // that lethe takes, see ingest.Limits
	maxNodes        = 100_000_000
)

// GenerateDefaults has Elliptic's shape and shares with fewer transactions. Every step has 400, so
// that each of twenty shards gets twenty. The drift begins after 60 % of the stream.
func GenerateDefaults() GenerateOptions {
	return GenerateOptions{
		Steps: 20, NodesPerStep: 400, Features: 165, IllicitFraction: .02, LicitFraction: .21, DriftStep: 13,
	}
}

// Validate reports every value that is out of range.
func (o GenerateOptions) Validate() error {
	var p check.Problems
	p.Whole("steps", o.Steps, 1, maxNodes)
	p.Whole("nodes_per_step", o.NodesPerStep, minNodesPerStep, maxNodes)
	if len(p) == 0 && o.Steps > maxNodes/o.NodesPerStep {
		p.Bad("steps", o.Steps, "at most %d at %d nodes per step", maxNodes/o.NodesPerStep, o.NodesPerStep)
	}
	p.Whole("features", o.Features, minFeatures, maxFeatures)
	p.Above("illicit_fraction", o.IllicitFraction, 0, .15)
	p.Above("licit_fraction", o.LicitFraction, 0, .5)
	p.AtLeast("drift_step", int(o.DriftStep), 1)
	return p.Err()
}
