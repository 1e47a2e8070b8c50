package view

import (
	"encoding/binary"
	"fmt"
	"math"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

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
