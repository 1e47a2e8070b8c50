package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/scoring"
)

// measure compares what was predicted for a timestep with the labels that came
// in later, once both are there (prequential evaluation).
func (r *Role) measure(t lethe.Timestep) error {
	predicted, err := r.state.given(t)
	if err != nil || predicted == nil {
		return err
	}
	r.state.quality[t] = StepQuality{Predictions: len(predicted.nodes)}
	manifest, err := r.state.manifest(t)
	if err != nil || manifest == nil {
		return err
	}
	summary := predicted.quality(manifest.Labels, r.o.Threshold)
	value, err := json.Marshal(summary)
	if err != nil {
		return fmt.Errorf("quality of timestep %d: %w", t, err)
	}
	if err := r.state.store.Apply(func(w swapstore.Writer) error {
		return w.Set(timestepKey(qualityPrefix, t), value)
	}); err != nil {
		return fmt.Errorf("quality of timestep %d: %w", t, err)
	}
	r.state.quality[t] = StepQuality{Predictions: len(predicted.nodes), Summary: &summary}
	auc := math.NaN()
	if summary.AUC != nil {
		auc = *summary.AUC
	}
	r.o.Listener.QualityMeasured(events.QualityMeasured{
		Timestep: t, AUC: auc, MacroF1: summary.MacroF1, IllicitF1: summary.IllicitF1,
	})
	return nil
}

// measureMissing measures what a crash left unmeasured: whatever changes a
// measure deletes the old one in the same batch.
func (r *Role) measureMissing() error {
	for _, t := range slices.Sorted(maps.Keys(r.state.quality)) {
		if r.state.quality[t].Summary != nil {
			continue
		}
		if err := r.measure(t); err != nil {
			return err
		}
	}
	return nil
}

// Status is what the role says of itself.
type Status struct {
	// Scored counts the timesteps dealt with, Waiting those that wait for their
	// ensemble.
	Scored, Waiting int
	// Predictions counts what was published and not withdrawn.
	Predictions int
	// EnsembleVersion and TrainedThrough describe the served ensemble;
	// TrainedThrough is NoTimestep if there is none.
	EnsembleVersion lethe.Digest
	TrainedThrough  lethe.Timestep
	// Fits is false while an erasure is being trained away.
	Fits    bool
	Quality map[lethe.Timestep]StepQuality
}

// StepQuality is how good the predictions of one timestep turned out.
type StepQuality struct {
	Predictions int
	// Summary is nil until the labels are in.
	Summary *scoring.Summary
}

// Status returns the latest state. It may be called from any goroutine; the
// result must not be changed.
func (r *Role) Status() *Status { return r.status.Load() }

// publishStatus makes the present state the one that Status returns.
func (r *Role) publishStatus() {
	s := &Status{TrainedThrough: lethe.NoTimestep, Fits: r.state.fits(), Quality: maps.Clone(r.state.quality)}
	for _, l := range r.state.links {
		if l.done {
			s.Scored++
		} else {
			s.Waiting++
		}
	}
	if e := r.state.served; e != nil {
		s.EnsembleVersion, s.TrainedThrough = e.version, e.through
	}
	for _, q := range s.Quality {
		s.Predictions += q.Predictions
	}
	r.status.Store(s)
}
