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
	"lethe/pipeline/role"
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

// progress is how far the role has come.
type progress struct {
	// scored counts the timesteps dealt with, waiting those that wait for their
	// ensemble.
	scored, waiting int
	// fits is false while an erasure is being trained away.
	fits bool
	role.Status
}

// StepQuality is how good the predictions of one timestep turned out.
type StepQuality struct {
	Predictions int
	// Summary is nil until the labels are in.
	Summary *scoring.Summary
}

// Status implements role.Role: predictions, their quality and the ensemble.
func (r *Role) Status() *role.Status { return &r.status.Load().Status }

// publishStatus makes the present state the one that Status returns.
func (r *Role) publishStatus() {
	p := &progress{fits: r.state.fits()}
	for _, l := range r.state.links {
		if l.done {
			p.scored++
		} else {
			p.waiting++
		}
	}
	if e := r.state.served; e != nil {
		p.Ensemble = &role.Ensemble{Version: e.Version, Through: e.Through}
	}
	p.Steps = make(map[lethe.Timestep]role.Step)
	for t, q := range r.state.quality {
		p.Steps[t] = role.Step{Predictions: q.Predictions, Quality: q.Summary}
	}
	r.status.Store(p)
}
