package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/scoring"
	"lethe/scoring/quality"
)

// Quality compares a timestep's final predictions that are not late with known labels.
type Quality struct {
	quality.Summary
	Threshold float64 `json:"threshold"`
	// Bins compare predicted and actual shares.
	Bins []Bin `json:"bins"`
}

type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int     `json:"count"`
	// Mean is of the probabilities, Illicit the actual share.
	Mean    float64 `json:"mean_probability"`
	Illicit float64 `json:"illicit_share"`
}

const bins = 10

// measure updates the quality of changed timesteps.
func (l *logic) measure() error {
	for _, t := range slices.Sorted(maps.Keys(l.unmeasured)) {
		if err := measureStep(l, t); err != nil {
			return fmt.Errorf("quality of timestep %d: %w", t, err)
		}
		delete(l.unmeasured, t)
	}
	return nil
}

func measureStep(l *logic, t lethe.Timestep) error {
	m, err := measuredOf(l, t)
	if err != nil {
		return err
	}
	var said, tally []byte
	if len(m.probabilities) > 0 {
		if said, err = json.Marshal(m.quality()); err != nil {
			return err
		}
		tally = m.tally()
	}
	changed := false
	err = l.store.Apply(func(w swapstore.Writer) error {
		for prefix, value := range map[string][]byte{qualityPrefix: said, tallyPrefix: tally} {
			key := timestepkey.New(prefix, t)
			before, found, err := l.store.Get(key)
			if err == nil && (found != (value != nil) || !bytes.Equal(before, value)) {
				changed = true
				err = setOrDelete(w, key, value, value == nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && changed {
		l.feed.notify(Timesteps)
	}
	return err
}

// measuredOf are a timestep's final predictions with known labels.
func measuredOf(l *logic, t lethe.Timestep) (*measured, error) {
	m := new(measured)
	if revision, _, err := readManifest(l.store, t); err != nil || revision == 0 || l.counts[t].Final == 0 {
		return m, err
	}
	names, err := rankedIn(l.store, t)
	if err != nil {
		return nil, err
	}
	predictions, err := readPredictions(l.store, names...)
	if err != nil {
		return nil, err
	}
	nodes, err := l.store.Lookup(keysOf(nodePrefix, names))
	if err != nil {
		return nil, err
	}
	for i, p := range predictions {
		if p == nil || !p.Final || p.Late || !nodes[i].Found {
			continue
		}
		node, err := decodeNode(nodes[i].Value)
		if err != nil {
			return nil, err
		}
		m.add(p, node.label)
	}
	return m, nil
}

type measured struct {
	probabilities []float64
	labels        []lethe.Label
	threshold     float64
	bins          [bins]Bin
}

func (m *measured) add(p *scoring.Prediction, label lethe.Label) {
	if label != lethe.Illicit && label != lethe.Licit {
		return
	}
	m.probabilities, m.labels = append(m.probabilities, p.Probability), append(m.labels, label)
	m.threshold = p.Threshold
	b := &m.bins[min(int(p.Probability*bins), bins-1)]
	b.Count++
	b.Mean += p.Probability
	if label == lethe.Illicit {
		b.Illicit++
	}
}

func (m *measured) quality() *Quality {
	summary := quality.Summarise(m.probabilities, m.labels, m.threshold)
	out := &Quality{Summary: summary, Threshold: m.threshold, Bins: []Bin{}}
	for i, b := range m.bins {
		if b.Count > 0 {
			b.From, b.To = float64(i)/bins, float64(i+1)/bins
			b.Mean, b.Illicit = b.Mean/float64(b.Count), b.Illicit/float64(b.Count)
			out.Bins = append(out.Bins, b)
		}
	}
	return out
}
