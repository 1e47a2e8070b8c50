package view

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// A tally holds what a threshold or a budget comes to in a timestep: its threshold, and of every
// final prediction with a label, the likeliest first, probability and whether it was illicit.
const (
	tallyHeader = 8
	tallyEntry  = 9
)

func (m *measured) tally() []byte {
	order := make([]int, len(m.probabilities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case m.probabilities[a] > m.probabilities[b]:
			return -1
		case m.probabilities[a] < m.probabilities[b]:
			return 1
		default:
			return 0
		}
	})
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

// Choice says what an alert is. With neither Threshold nor Budget it is what was called illicit.
type Choice struct {
	// Timestep, if not nil, is the only one that counts.
	Timestep *lethe.Timestep
	// Threshold, if not nil, is the probability from which on a transaction is an alert.
	Threshold *float64
	// Budget, if not 0, is how many there are in each timestep, the likeliest ones.
	Budget int
}

// Outcome is what a choice would have come to, among the transactions whose labels are known.
type Outcome struct {
	Timesteps int `json:"timesteps"`
	Labelled  int `json:"labelled"`
	Illicit   int `json:"illicit"`
	// Taken are alerts, Right those that were illicit. Where a budget ends among equal probabilities
	// Right is what is to be expected.
	Taken int     `json:"taken"`
	Right float64 `json:"right"`
	// Precision is nil without alerts, Recall without illicit ones.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// Outcome returns what a choice would have come to.
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

// add counts a timestep.
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

// equal counts the entries at the beginning that have the first one's probability, and the illicit
// ones among them.
func equal(entries []byte) (same, positive int) {
	first := binary.BigEndian.Uint64(entries)
	for ; len(entries) > 0 && binary.BigEndian.Uint64(entries) == first; entries = entries[tallyEntry:] {
		same++
		positive += int(entries[tallyHeader])
	}
	return same, positive
}
