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

// due has a timestep measured, in the write that changes its predictions, graph or labels.
func (l *logic) due(w swapstore.Writer, t lethe.Timestep) {
	if !l.unmeasured[t] {
		l.unmeasured[t] = true
		w.Set(timestepkey.New(unmeasuredPrefix, t), nil)
	}
}

// measure updates the quality of the timesteps that are due: of those with predictions on their way only if all is set.
func (l *logic) measure(all bool) error {
	for _, t := range slices.Sorted(maps.Keys(l.unmeasured)) {
		graph, err := readGraph(l.store, t)
		if err == nil && (all || graph == nil || l.counts[t].Final >= graph.Nodes) {
			err = l.measureStep(t)
		}
		if err != nil {
			return fmt.Errorf("quality of timestep %d: %w", t, err)
		}
	}
	return nil
}

func (l *logic) measureStep(t lethe.Timestep) error {
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
	delete(l.unmeasured, t)
	if changed {
		l.feed.notify(Timesteps)
	}
	return nil
}

// readUnmeasured reads which timesteps are due.
func readUnmeasured(store swapstore.Reader) (map[lethe.Timestep]bool, error) {
	out := make(map[lethe.Timestep]bool)
	return out, store.Scan([]byte(unmeasuredPrefix), func(key, _ []byte) error {
		t, err := timestepkey.Parse(unmeasuredPrefix, key)
		out[t] = true
		return err
	})
}

// measuredOf are a timestep's final predictions with known labels.
func measuredOf(l *logic, t lethe.Timestep) (*measured, error) {
	m := new(measured)
	if revision, _, err := readManifest(l.store, t); err != nil || revision == 0 || l.counts[t].Final == 0 {
		return m, err
	}
	names, labels, err := labelledIn(l.store, t)
	if err != nil {
		return nil, err
	}
	predictions, err := readPredictions(l.store, names...)
	for i, p := range predictions {
		if p != nil && p.Final && !p.Late && p.Timestep == t {
			m.add(p, labels[i])
		}
	}
	return m, err
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
// probability and whether it was illicit. Thresholds and budgets are evaluated on it.
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

// Choice defines alerts; with neither Threshold nor Budget as published.
type Choice struct {
	// Timestep may be nil for all.
	Timestep *lethe.Timestep
	// Threshold, if not nil, is the least probability.
	Threshold *float64
	// Budget, if not 0, is the number per timestep.
	Budget int
}

// Outcome is a choice's result on labelled transactions.
type Outcome struct {
	Timesteps int `json:"timesteps"`
	Labelled  int `json:"labelled"`
	Illicit   int `json:"illicit"`
	// Taken are alerts, Right the illicit ones; an expectation if a budget ends among equal probabilities.
	Taken int     `json:"taken"`
	Right float64 `json:"right"`
	// Precision is nil without alerts, Recall without illicit ones.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// Outcome evaluates a choice.
func (r *Reader) Outcome(c Choice) (*Outcome, error) {
	prefix := []byte(tallyPrefix)
	if c.Timestep != nil {
		prefix = timestepkey.New(prefix, *c.Timestep)
	}
	out := new(Outcome)
	err := r.store.Scan(prefix, func(_, value []byte) error { return out.add(c, value) })
	if err != nil {
		return nil, err
	}
	if out.Taken > 0 {
		precision := out.Right / float64(out.Taken)
		out.Precision = &precision
	}
	if out.Illicit > 0 {
		recall := out.Right / float64(out.Illicit)
		out.Recall = &recall
	}
	return out, nil
}

func (o *Outcome) add(c Choice, tally []byte) error {
	if len(tally) < tallyHeader || (len(tally)-tallyHeader)%tallyEntry != 0 {
		return fmt.Errorf("%w: a tally of %d bytes", swapstore.ErrCorrupt, len(tally))
	}
	threshold := math.Float64frombits(binary.BigEndian.Uint64(tally))
	if c.Threshold != nil {
		threshold = *c.Threshold
	}
	o.Timesteps++
	left := c.Budget
	for entries := tally[tallyHeader:]; len(entries) > 0; {
		same, positive := equal(entries)
		probability := math.Float64frombits(binary.BigEndian.Uint64(entries))
		o.Labelled += same
		o.Illicit += positive
		taken := 0
		switch {
		case c.Budget > 0:
			taken = min(same, left)
			left -= taken
		case probability >= threshold:
			taken = same
		}
		o.Taken += taken
		o.Right += float64(taken) * float64(positive) / float64(same)
		entries = entries[same*tallyEntry:]
	}
	return nil
}

// equal counts the leading entries of one probability, and the illicit ones.
func equal(entries []byte) (same, positive int) {
	first := binary.BigEndian.Uint64(entries)
	for ; len(entries) > 0 && binary.BigEndian.Uint64(entries) == first; entries = entries[tallyEntry:] {
		same++
		positive += int(entries[tallyHeader])
	}
	return same, positive
}
