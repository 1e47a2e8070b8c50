package demo

import (
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/dataset"
	"lethe/service"
)

// pace estimates the remaining time of a stage: it extrapolates the slowdown between the first and the second half
// of the completed part, because models learn from more and more data.
type pace struct {
	// reached has the times at which a progress was reached, ascending in both.
	reached []mark
}

type mark struct {
	done int
	at   time.Time
}

// left returns the remaining time; known is false before an estimate is possible.
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
		// Linear extrapolation through the middles of both halves to the middle of the remaining part. At the
		// beginning it would overestimate small differences.
		growth := max(0, each-secondsEach(first, half)) / (float64(last.done-first.done) / 2)
		each += min(each, growth*(float64(last.done+of)/2-float64(half.done+last.done)/2))
	}
	left = time.Duration((each*float64(of-last.done) - now.Sub(last.at).Seconds()) * float64(time.Second))
	if now.Sub(last.at).Seconds() > each && last.done > first.done {
		// The wait exceeds the duration of a unit: assume the average speed, the wait included, at best.
		left = max(left, now.Sub(first.at)*time.Duration(of-last.done)/time.Duration(last.done-first.done))
	}
	return max(0, left), true
}

// secondsEach is the time per unit between two marks.
func secondsEach(from, to mark) float64 {
	return to.at.Sub(from.at).Seconds() / float64(to.done-from.done)
}

// text describes the remaining time of a stage.
func (p *pace) text(done, of int, now time.Time) string {
	left, known := p.left(done, of, now)
	if !known || done >= of {
		return ""
	}
	return fmt.Sprintf("; about %.0f s left", left.Seconds())
}

// streamed describes the progress of the stream. A timestep counts once all its models have learned from it: the
// networks come first, and the trees, the regressions and the meta-model, which are served together, follow.
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
