package dataset

import (
	"math"

	"lethe"
)

// factors is the number of hidden traits (amount, fee, age, ...) from which the
// features of a transaction follow. Shared traits make features correlate.
const factors = 8

// degreeFeatures is how many local features are degrees: log(1+in), log(1+out).
const degreeFeatures = 2

// calibrationNodes is the size of the step from which means and deviations are
// taken. A step of its own, numbered 0, keeps them independent of the options'
// Steps and NodesPerStep.
const calibrationNodes = 2000

// maxDeviations bounds standardised values: heavy tails, but no accidents.
const maxDeviations = 25

// trait is how one local feature follows from a node.
type trait struct {
	loading [factors]float64
	noise   float64
	// skewed features are log-normal, as amounts are.
	skewed bool
	// signal is how laundering moves the feature, before and after the drift;
	// byKind is moved by the typology alone.
	signal, drifted float64
	byKind          [NumTypologies]float64
	// season is the phase of a weekly swing that all classes share.
	season float64
}

// aggregate is a feature computed from the neighbours' values of a local one.
type aggregate struct {
	source int
	op     int
}

// featureModel turns worlds into feature rows. It is fixed by seed and number
// of features.
type featureModel struct {
	traits     []trait
	aggregates []aggregate
	// mean and deviation standardise local features, then aggregated ones.
	mean, deviation []float64
}

// Strength of the signals, in units of a feature's own spread. They were chosen
// so that a linear model reaches an AUC of about .9 on later steps.
const (
	signalGain, kindGain = 1, .65
	signalEvery          = 3
	driftShare           = .5
)

func newFeatureModel(opts GenerateOptions) *featureModel {
	local := max(1, opts.Features*94/165)
	m := &featureModel{}
	for j := range local {
		m.traits = append(m.traits, newTrait(lethe.NewDraw(opts.Seed, "generate/trait", uint64(j))))
	}
	for a := range opts.Features - local {
		d := lethe.NewDraw(opts.Seed, "generate/aggregate", uint64(a))
		m.aggregates = append(m.aggregates, aggregate{source: d.IntN(local), op: a % aggregations})
	}
	m.calibrate(newWorld(opts, 0, calibrationNodes))
	return m
}

func newTrait(d *lethe.Draw) trait {
	tr := trait{noise: .5 + d.Float64(), season: 2 * math.Pi * d.Float64()}
	for f := range tr.loading {
		if d.Float64() < .4 {
			tr.loading[f] = d.Normal() / math.Sqrt(factors*.4)
		}
	}
	tr.skewed = d.Float64() < .4
	tr.signal = sometimes(d, signalGain)
	tr.drifted = tr.signal
	if changed := sometimes(d, signalGain); d.Float64() < driftShare {
		tr.drifted = changed
	}
	for k := 1; k < NumTypologies; k++ {
		tr.byKind[k] = sometimes(d, kindGain)
	}
	return tr
}

// sometimes returns a shift of about the given size and either sign for one
// feature in signalEvery, else 0.
func sometimes(d *lethe.Draw, size float64) float64 {
	shift := size * (.6 + .8*d.Float64())
	if d.Float64() < .5 {
		shift = -shift
	}
	if d.IntN(signalEvery) > 0 {
		return 0
	}
	return shift
}

// calibrate sets means and deviations from one world.
func (m *featureModel) calibrate(w *world) {
	width := len(m.traits) + len(m.aggregates)
	m.mean, m.deviation = make([]float64, width), make([]float64, width)
	for j := range m.deviation {
		m.deviation[j] = 1
	}
	local := m.local(w)
	m.measure(local, 0)
	m.standardise(local, 0)
	m.measure(m.aggregated(w, local), len(m.traits))
}

// measure takes the moments of a matrix whose first column is feature from.
func (m *featureModel) measure(x matrix, from int) {
	for j := range x.columns {
		var sum, square float64
		for i := range x.rows {
			v := x.at(i, j)
			sum += v
			square += v * v
		}
		mean := sum / float64(x.rows)
		m.mean[from+j] = mean
		if variance := square/float64(x.rows) - mean*mean; variance > 1e-12 {
			m.deviation[from+j] = math.Sqrt(variance)
		}
	}
}

// standardise subtracts means and divides by deviations, in place.
func (m *featureModel) standardise(x matrix, from int) {
	for i := range x.rows {
		for j := range x.columns {
			v := (x.at(i, j) - m.mean[from+j]) / m.deviation[from+j]
			x.set(i, j, min(max(v, -maxDeviations), maxDeviations))
		}
	}
}
