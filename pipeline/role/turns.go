package role

import (
	"context"
	"errors"
	"iter"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// errUnpublished ends work whose messages were not published.
var errUnpublished = errors.New("the output was not published")

// Turns splits work that publishes into steps. The work is plain code that pauses where it calls Publish: its messages
// are the output of a step, and the next step continues behind the call, once they are published.
//
// The work is a coroutine: it never runs concurrently with the caller of Step. The zero value is ready.
type Turns struct {
	next  func() (Output, bool)
	stop  func()
	yield func(Output) bool
	// published means that the last output is published.
	published bool
	err       error
}

// Step continues the current work, or starts the given work if there is none. The output is idle when the work is done.
func (t *Turns) Step(work func() error) (Output, error) {
	if t.next == nil {
		t.next, t.stop = iter.Pull(func(yield func(Output) bool) {
			t.yield = yield
			t.err = work()
		})
	}
	if out, more := t.next(); more {
		return out, nil
	}
	t.next, t.stop = nil, nil
	return Output{Idle: true}, t.err
}

// Publish is called by the work. It returns nil once the output is published and its Note has returned.
func (t *Turns) Publish(out Output) error {
	t.published = false
	note := out.Note
	out.Note = func() error {
		t.published = true
		if note == nil {
			return nil
		}
		return note()
	}
	if !t.yield(out) || !t.published {
		return errUnpublished
	}
	return nil
}

// Write is Publish for records.
func (t *Turns) Write(_ context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	return t.Publish(Output{Topic: topic, Records: records})
}

// Close ends the current work where it pauses, with an error of Publish.
func (t *Turns) Close() {
	if t.stop != nil {
		t.stop()
		t.next, t.stop = nil, nil
	}
}
