package view

import (
	"bytes"
	"cmp"
	"encoding/binary"
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

// Quality compares a timestep's final predictions that are not late with known labels.
type Quality struct {
	quality.Summary
	Threshold float64 `json:"threshold"`
	// Bins compare predicted and actual shares.
	Bins []Bin `json:"bins"`
}

// Bin is a range of probabilities.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int     `json:"count"`
	// Mean is of the probabilities, Illicit the actual share.
	Mean    float64 `json:"mean_probability"`
	Illicit float64 `json:"illicit_share"`
}

const bins = 10

// measuring keeps the quality of timesteps up to date.
type measuring struct {
	store *swapstore.Store
	feed  *Feed
	// counts are those of the role.
	counts map[lethe.Timestep]Counts
	// unmeasured are the timesteps that are due, as in the store.
	unmeasured map[lethe.Timestep]bool
}

func newMeasuring(store *swapstore.Store, feed *Feed, counts map[lethe.Timestep]Counts) (measuring, error) {
	m := measuring{store, feed, counts, make(map[lethe.Timestep]bool)}
	return m, store.Scan([]byte(unmeasuredPrefix), func(key, _ []byte) error {
		t, err := timestepkey.Parse(unmeasuredPrefix, key)
		m.unmeasured[t] = true
		return err
	})
}

// due has a timestep measured, in the write that changes its predictions, graph or labels.
func (m measuring) due(w swapstore.Writer, t lethe.Timestep) {
	if !m.unmeasured[t] {
		m.unmeasured[t] = true
		w.Set(timestepkey.New(unmeasuredPrefix, t), nil)
	}
}

// measure updates the quality of the timesteps that are due: of those with predictions on their way only if all is set.
func (m measuring) measure(all bool) error {
	for _, t := range slices.Sorted(maps.Keys(m.unmeasured)) {
		graph, err := readGraph(m.store, t)
		if err == nil && (all || graph == nil || m.counts[t].Final >= graph.Nodes) {
			err = m.step(t)
		}
		if err != nil {
			return fmt.Errorf("quality of timestep %d: %w", t, err)
		}
	}
	return nil
}

func (m measuring) step(t lethe.Timestep) error {
	now, err := m.measured(t)
	if err != nil {
		return err
	}
	var figures, tally []byte
	if len(now.probabilities) > 0 {
		if figures, err = json.Marshal(now.quality()); err != nil {
			return err
		}
		tally = now.tally()
	}
	changed := false
	err = m.store.Apply(func(w swapstore.Writer) error {
		for prefix, value := range map[string][]byte{qualityPrefix: figures, tallyPrefix: tally} {
			key := timestepkey.New(prefix, t)
			before, found, err := m.store.Get(key)
			if err != nil {
				return err
			}
			if found != (value != nil) || !bytes.Equal(before, value) {
				changed = true
				setOrDelete(w, key, value, value == nil)
			}
		}
		w.Delete(timestepkey.New(unmeasuredPrefix, t))
		return nil
	})
	if err != nil {
		return err
	}
	delete(m.unmeasured, t)
	if changed {
		m.feed.notify(Timesteps)
	}
	return nil
}

// measured are a timestep's final predictions with known labels.
func (m measuring) measured(t lethe.Timestep) (*measured, error) {
	out := new(measured)
	if revision, _, err := readManifest(m.store, t); err != nil || revision == 0 || m.counts[t].Final == 0 {
		return out, err
	}
	names, labels, err := labelledIn(m.store, t)
	if err != nil {
		return nil, err
	}
	predictions, err := readPredictions(m.store, names...)
	for i, p := range predictions {
		if p != nil && p.Final && !p.Late && p.Timestep == t {
			out.add(p, labels[i])
		}
	}
	return out, err
}

// labelledIn are the transactions of a timestep's graph that have a label, with it.
func labelledIn(store *swapstore.Store, t lethe.Timestep) (names []name, labels []lethe.Label, err error) {
	members, err := membersOf(store, t)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := store.Lookup(keysOf(nodePrefix, members))
	for i := 0; i < len(nodes) && err == nil; i++ {
		if !nodes[i].Found {
			continue
		}
		var n node
		if n, err = decodeNode(nodes[i].Value); n.label == lethe.Illicit || n.label == lethe.Licit {
			names, labels = append(names, members[i]), append(labels, n.label)
		}
	}
	return names, labels, err
}

type measured struct {
	probabilities []float64
	labels        []lethe.Label
	threshold     float64
	bins          [bins]Bin
}

func (m *measured) add(p *scoring.Prediction, label lethe.Label) {
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

// A tally is a timestep's threshold and, for every final labelled prediction by descending probability, the
// probability and whether the label is illicit. Thresholds and budgets are evaluated on it.
const (
	tallyHeader = 8
	tallyEntry  = 9
)

func (m *measured) tally() []byte {
	order := make([]int, len(m.probabilities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.probabilities[b], m.probabilities[a]) })
	out := binary.BigEndian.AppendUint64(make([]byte, 0, tallyHeader+tallyEntry*len(order)), math.Float64bits(m.threshold))
	for _, i := range order {
		out = binary.BigEndian.AppendUint64(out, math.Float64bits(m.probabilities[i]))
		illicit := byte(0)
		if m.labels[i] == lethe.Illicit {
			illicit = 1
		}
		out = append(out, illicit)
	}
	return out
}
