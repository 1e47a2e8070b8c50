package dataset

import (
	"math"

	"lethe"
)

// factors is the number of latent factors (amount, fee, age, ...) that determine the features of a
// transaction. Shared factors make features correlate.
const factors = 8

// degreeFeatures is how many local features are degrees: log(1+in), log(1+out).
const degreeFeatures = 2

// calibrationNodes is the size of the step that determines means and deviations. A separate step,
// numbered 0, makes them independent of the options Steps and NodesPerStep.
const calibrationNodes = 2000

// maxDeviations bounds standardised values.
const maxDeviations = 25

// localFeature defines how one local feature is computed from a node.
type localFeature struct {
	loading [factors]float64
	noise   float64
	// skewed features are log-normal, as amounts are.
	skewed bool
	// signal is how laundering shifts the feature before the drift, drifted after it; byKind is
	// the shift by the typology alone.
	signal, drifted float64
	byKind          [NumTypologies]float64
	// season is the phase of a cycle of seven timesteps that all classes share.
	season float64
}

// aggregateFeature is computed from the neighbours' values of a local feature.
type aggregateFeature struct {
	source int
	op     int
}

// featureModel computes the features of a step's nodes. It is determined by seed and number of
// features.
type featureModel struct {
	locals     []localFeature
	aggregates []aggregateFeature
	// mean and deviation standardise local features, then aggregated ones.
	mean, deviation []float64
}

// Strength of the signals, in units of a feature's own spread. They were chosen so that a linear
// model reaches an AUC of about .9 on later steps.
const (
	signalGain, kindGain = 1, .65
	signalEvery          = 3
	driftShare           = .5
)

func newFeatureModel(opts GenerateOptions) *featureModel {
	local := max(1, opts.Features*94/165)
	m := &featureModel{}
	for j := range local {
		m.locals = append(m.locals, newLocalFeature(lethe.NewDraw(opts.Seed, "generate/trait", uint64(j))))
	}
	for a := range opts.Features - local {
		d := lethe.NewDraw(opts.Seed, "generate/aggregate", uint64(a))
		m.aggregates = append(m.aggregates, aggregateFeature{source: d.IntN(local), op: a % aggregations})
	}
	m.calibrate(newGeneratedStep(opts, 0, calibrationNodes))
	return m
}

func newLocalFeature(d *lethe.Draw) localFeature {
	l := localFeature{noise: .5 + d.Float64(), season: float64(2 * math.Pi * d.Float64())}
	for f := range l.loading {
		if d.Float64() < .4 {
			l.loading[f] = d.Normal() / math.Sqrt(factors*.4)
		}
	}
	l.skewed = d.Float64() < .4
	l.signal = occasionalShift(d, signalGain)
	l.drifted = l.signal
	if changed := occasionalShift(d, signalGain); d.Float64() < driftShare {
		l.drifted = changed
	}
	for k := 1; k < NumTypologies; k++ {
		l.byKind[k] = occasionalShift(d, kindGain)
	}
	return l
}

// occasionalShift returns a shift of about the given size and random sign for one feature in
// signalEvery, else 0.
func occasionalShift(d *lethe.Draw, size float64) float64 {
	shift := size * (.6 + float64(.8*d.Float64()))
	if d.Float64() < .5 {
		shift = -shift
	}
	if d.IntN(signalEvery) > 0 {
		return 0
	}
	return shift
}

// calibrate determines means and deviations from one step.
func (m *featureModel) calibrate(g *generatedStep) {
	width := len(m.locals) + len(m.aggregates)
	m.mean, m.deviation = make([]float64, width), make([]float64, width)
	for j := range m.deviation {
		m.deviation[j] = 1
	}
	local := m.local(g)
	m.measure(local, 0)
	m.standardise(local, 0)
	m.measure(m.aggregated(g, local), len(m.locals))
}

// measure computes the moments of a matrix whose first column is feature from.
func (m *featureModel) measure(x matrix, from int) {
	for j := range x.columns {
		var sum, square float64
		for i := range x.rows {
			v := x.at(i, j)
			sum += v
			square += float64(v * v)
		}
		mean := sum / float64(x.rows)
		m.mean[from+j] = mean
		if variance := square/float64(x.rows) - float64(mean*mean); variance > 1e-12 {
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
