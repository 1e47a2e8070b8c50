package role

import (
	"context"
	"errors"
	"iter"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// errUnpublished ends work whose messages did not reach their topic.
var errUnpublished = errors.New("what is said was not published")

// Turns cut work that publishes as it goes into steps. The work is plain code
// that calls Publish. There it pauses: what it publishes is the output of a step,
// and the next step goes on behind the call. So the work may rely on its messages
// being in their topics, as if it had written them itself.
//
// The work is a coroutine: it never runs at the same time as the caller of Step. The zero value
// is ready.
type Turns struct {
	next  func() (Output, bool)
	stop  func()
	yield func(Output) bool
	// published says that the last output is where it belongs.
	published bool
	err       error
}

// Step goes on with the work under way, or begins the given work if there is
// none. The output is idle when the work is done.
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

// Publish is called by the work. It returns nil once the output is published and noted.
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

// Close ends the work under way where it pauses: what it publishes there counts
// as not published.
func (t *Turns) Close() {
	if t.stop != nil {
		t.stop()
		t.next, t.stop = nil, nil
	}
}
