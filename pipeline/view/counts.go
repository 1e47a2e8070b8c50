package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/scoring"
	"lethe/scoring/quality"
)

// Counts are a timestep's numbers of predictions.
type Counts struct {
	Predictions int `json:"predictions"`
	Final       int `json:"final"`
	Late        int `json:"late"`
	Alerts      int `json:"alerts"`
	// Scores are of predictions that are final and not late.
	Scores quality.ScoreCounts `json:"scores"`
}

// with adds n (1 or -1) predictions.
func (c Counts) with(p *scoring.Prediction, n int) Counts {
	c.Predictions += n
	if p.Final {
		c.Final += n
	}
	if p.Late {
		c.Late += n
	}
	if isAlert(p) {
		c.Alerts += n
	}
	if p.Final && !p.Late {
		c.Scores.Add(p.Probability, n)
	}
	return c
}

func isAlert(p *scoring.Prediction) bool { return p.Probability >= p.Threshold }

// changedCounts are the changes of a write.
type changedCounts map[lethe.Timestep]Counts

// count adds n (1 or -1) predictions to the changes.
func (s *state) count(changed changedCounts, p *scoring.Prediction, n int) {
	before, known := changed[p.Timestep]
	if !known {
		before = s.counts[p.Timestep]
	}
	changed[p.Timestep] = before.with(p, n)
}

// write stores counts, or deletes empty ones.
func (c changedCounts) write(w swapstore.Writer) error {
	for _, t := range slices.Sorted(maps.Keys(c)) {
		key := timestepkey.New(countPrefix, t)
		if c[t] == (Counts{}) {
			w.Delete(key)
		} else if err := setJSON(w, key, c[t]); err != nil {
			return err
		}
	}
	return nil
}

// keep applies durable changes to memory.
func (s *state) keep(changed changedCounts) {
	for t, c := range changed {
		if s.counts[t] = c; c == (Counts{}) {
			delete(s.counts, t)
		}
	}
}

func readCounts(store swapstore.Reader) (map[lethe.Timestep]Counts, error) {
	out := make(map[lethe.Timestep]Counts)
	return out, store.Scan([]byte(countPrefix), func(key, value []byte) error {
		t, err := timestepkey.Parse(countPrefix, key)
		if err != nil {
			return err
		}
		var c Counts
		if err := json.Unmarshal(value, &c); err != nil {
			return fmt.Errorf("%w: counts of timestep %d", swapstore.ErrCorrupt, t)
		}
		out[t] = c
		return nil
	})
}

// driftsOf compares each timestep's scores with those of all before, where both exist.
func driftsOf(store swapstore.Reader) (map[lethe.Timestep]float64, error) {
	counts, err := readCounts(store)
	if err != nil {
		return nil, err
	}
	out := make(map[lethe.Timestep]float64)
	var before quality.ScoreCounts
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		now := counts[t].Scores
		if drift := now.Drift(before); !math.IsNaN(drift) {
			out[t] = drift
		}
		before.AddAll(now)
	}
	return out, nil
}
