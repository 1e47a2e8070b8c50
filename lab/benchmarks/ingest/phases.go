package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// span is from a time to another one.
type span struct{ from, to time.Time }

func (s span) overlaps(other span) bool { return s.from.Before(other.to) && other.from.Before(s.to) }

// phases are what was done beside intake, and when, by name; pauses are when nothing was taken in.
type phases struct {
	spans  map[string][]span
	pauses []span
}

// The phases.
const (
	closingPhase  = "closing"
	settlingPhase = "settling"
	trainingPhase = "training"
	erasurePhase  = "erasure"
)

// did notes a phase that has just ended.
func (p *phases) did(phase string, took time.Duration) {
	now := time.Now()
	p.spans[phase] = append(p.spans[phase], span{now.Add(-took), now})
}

// paused notes that nothing was taken in for a time that has just ended, unless that is nothing to speak of.
func (p *phases) paused(from time.Time) {
	const least = 5 * time.Millisecond
	if now := time.Now(); now.Sub(from) >= least {
		p.pauses = append(p.pauses, span{from, now})
	}
}

// longest renders the longest pause while each phase went on, and while none did.
func (p *phases) longest() string {
	var out []string
	say := func(name string, counts func(pause span) bool) {
		var longest time.Duration
		for _, pause := range p.pauses {
			if counts(pause) {
				longest = max(longest, pause.to.Sub(pause.from))
			}
		}
		out = append(out, fmt.Sprintf("%s %d ms", name, longest.Milliseconds()))
	}
	for _, phase := range []string{closingPhase, settlingPhase, trainingPhase, erasurePhase} {
		name := fmt.Sprintf("%s (%d)", phase, len(p.spans[phase]))
		say(name, func(pause span) bool { return slices.ContainsFunc(p.spans[phase], pause.overlaps) })
	}
	say("none of them", func(pause span) bool {
		for _, spans := range p.spans {
			if slices.ContainsFunc(spans, pause.overlaps) {
				return false
			}
		}
		return true
	})
	return strings.Join(out, ", ")
}
