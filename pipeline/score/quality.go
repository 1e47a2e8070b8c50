package score

import (
	"math"

	"lethe"
	"lethe/metrics/events"
	"lethe/scoring/decision"
	"lethe/scoring/quality"
)

// measure compares what was predicted for a timestep with the labels that came
// in later, once both are there (prequential evaluation).
func (l *logic) measure(t lethe.Timestep) error {
	q, err := l.compare(t)
	if err != nil || q == nil {
		return err
	}
	l.state.quality[t] = *q
	summary := q.summary
	if summary == nil {
		return nil
	}
	l.o.Listener.QualityMeasured(events.QualityMeasured{
		Timestep: t, AUC: orNaN(summary.AUC), MacroF1: summary.MacroF1, IllicitF1: summary.IllicitF1,
		CalibrationError: orNaN(summary.ExpectedCalibrationError),
	})
	return nil
}

func orNaN(measure *float64) float64 {
	if measure == nil {
		return math.NaN()
	}
	return *measure
}

// compare returns how good the predictions of a timestep are, or nil if there are
// none. Nothing of it is stored, for it was computed from records.
func (l *logic) compare(t lethe.Timestep) (*stepQuality, error) {
	predicted, err := l.state.published(t)
	if err != nil || predicted == nil {
		return nil, err
	}
	q := &stepQuality{predictions: predicted.count()}
	if len(predicted.nodes) == 0 {
		return q, nil // late ones are not measured
	}
	manifest, err := l.state.manifest(t)
	if err != nil || manifest == nil {
		return q, err
	}
	summary := predicted.quality(manifest.Labels, decision.Choose(l.predictor.rule, nil, nil))
	q.summary = &summary
	return q, nil
}

// compareAll compares what is in the store when the role is opened.
func (l *logic) compareAll() error {
	for t := range l.state.quality {
		q, err := l.compare(t)
		if err != nil {
			return err
		}
		l.state.quality[t] = *q
	}
	return nil
}

// stepQuality is how good the predictions of one timestep turned out.
type stepQuality struct {
	predictions int
	// summary is nil until the labels are in.
	summary *quality.Summary
}
