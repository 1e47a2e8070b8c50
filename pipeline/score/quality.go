package score

import (
	"math"

	"lethe"
	"lethe/metrics/events"
	"lethe/scoring/decision"
	"lethe/scoring/quality"
)

// measure compares the predictions of a timestep with its later labels, once both exist (prequential evaluation).
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
	l.o.Listener(events.QualityMeasured{
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

// compare returns the quality of the predictions of a timestep, or nil. It is not stored, because it is computed from
// records.
func (l *logic) compare(t lethe.Timestep) (*stepQuality, error) {
	predicted, err := l.state.published(t)
	if err != nil || predicted == nil {
		return nil, err
	}
	q := &stepQuality{predictions: predicted.Count()}
	if len(predicted.Scores) == 0 {
		return q, nil // late ones are not measured
	}
	manifest, err := l.state.manifest(t)
	if err != nil || manifest == nil {
		return q, err
	}
	summary := predicted.Quality(manifest.Labels, decision.Choose(l.predictor.rule, nil, nil))
	q.summary = &summary
	return q, nil
}

// compareAll compares all stored predictions when the role is opened.
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

// stepQuality is the quality of the predictions of a timestep.
type stepQuality struct {
	predictions int
	// summary is nil without labels.
	summary *quality.Summary
}
