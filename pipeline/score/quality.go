package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/metrics/events"
	"lethe/scoring/quality"
)

// measure compares what was predicted for a timestep with the labels that came
// in later, once both are there (prequential evaluation).
func (l *logic) measure(t lethe.Timestep) error {
	predicted, err := l.state.published(t)
	if err != nil || predicted == nil {
		return err
	}
	l.state.quality[t] = stepQuality{predictions: len(predicted.nodes)}
	manifest, err := l.state.manifest(t)
	if err != nil || manifest == nil {
		return err
	}
	summary := predicted.quality(manifest.Labels, l.o.Scoring.Threshold)
	value, err := json.Marshal(summary)
	if err != nil {
		return fmt.Errorf("quality of timestep %d: %w", t, err)
	}
	if err := l.state.store.Apply(func(w swapstore.Writer) error {
		return w.Set(timestepkey.New(qualityPrefix, t), value)
	}); err != nil {
		return fmt.Errorf("quality of timestep %d: %w", t, err)
	}
	l.state.quality[t] = stepQuality{predictions: len(predicted.nodes), summary: &summary}
	auc := math.NaN()
	if summary.AUC != nil {
		auc = *summary.AUC
	}
	l.o.Listener.QualityMeasured(events.QualityMeasured{
		Timestep: t, AUC: auc, MacroF1: summary.MacroF1, IllicitF1: summary.IllicitF1,
	})
	return nil
}

// measureMissing measures what a crash left unmeasured: whatever changes a
// measure deletes the old one in the same batch.
func (l *logic) measureMissing() error {
	for _, t := range slices.Sorted(maps.Keys(l.state.quality)) {
		if l.state.quality[t].summary != nil {
			continue
		}
		if err := l.measure(t); err != nil {
			return err
		}
	}
	return nil
}

// stepQuality is how good the predictions of one timestep turned out.
type stepQuality struct {
	predictions int
	// summary is nil until the labels are in.
	summary *quality.Summary
}
