package demo

import (
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/dataset"
	"lethe/service"
)

// pace tells how much longer a stage takes: what comes takes longer than the second half of what is done as that took
// longer than the first half, for models learn from more and more.
type pace struct {
	// reached has when so much was done, ascending in both.
	reached []mark
}

type mark struct {
	done int
	at   time.Time
}

// left returns how long what is not done will take; known is false before anything can be told.
func (p *pace) left(done, of int, now time.Time) (left time.Duration, known bool) {
	if n := len(p.reached); n == 0 || p.reached[n-1].done < done {
		p.reached = append(p.reached, mark{done, now})
	}
	first, last := p.reached[0], p.reached[len(p.reached)-1]
	middle := (first.done + last.done) / 2
	at, found := slices.BinarySearchFunc(p.reached, middle, func(m mark, want int) int { return m.done - want })
	if !found {
		at--
	}
	half := p.reached[at]
	if half.done == last.done {
		return 0, false
	}
	each := secondsEach(half, last)
	if half.done > first.done {
		// A straight line through the middles of both halves, in the middle of what is left. At the beginning it would
		// make much of little.
		growth := max(0, each-secondsEach(first, half)) / (float64(last.done-first.done) / 2)
		each += min(each, growth*(float64(last.done+of)/2-float64(half.done+last.done)/2))
	}
	seconds := each*float64(of-last.done) - now.Sub(last.at).Seconds()
	return time.Duration(max(0, seconds) * float64(time.Second)), true
}

// secondsEach is how long one takes between two marks.
func secondsEach(from, to mark) float64 {
	return to.at.Sub(from.at).Seconds() / float64(to.done-from.done)
}

// text is what a stage says of the time that it takes.
func (p *pace) text(done, of int, now time.Time) string {
	left, known := p.left(done, of, now)
	if !known || done >= of {
		return ""
	}
	return fmt.Sprintf("; about %.0f s left", left.Seconds())
}

// streamed says how far the stream is. A timestep counts once all that learns from it has: the networks are first, and
// the trees, the regressions and the model above them, which are served together, come later.
func streamed(now *service.Status, steps []dataset.Step) (done int, text string) {
	done = slices.IndexFunc(steps, func(s dataset.Step) bool { return s.Timestep > now.TrainedThrough })
	switch {
	case now.TrainedThrough == lethe.NoTimestep:
		done = 0
	case done < 0:
		done = len(steps)
	}
	waits := "its models"
	if now.Timesteps.Settled <= done {
		waits = "its records and labels"
	}
	text = fmt.Sprintf("stream: %d of %d timesteps learnt by all models, %d predictions", done, len(steps),
		now.Predictions)
	if done < len(steps) {
		text += fmt.Sprintf("; timestep %d waits for %s", steps[done].Timestep, waits)
	}
	return done, text
}
