package worlds

import (
	"cmp"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

var (
	// errHangs says that a thread has stopped in the midst of what it does.
	errHangs = errors.New("it hangs")
	// errKilled ends what a thread does that hung and is killed.
	errKilled = errors.New("it was killed")
)

// fault is what keeps a process from its brokers.
type fault struct {
	// writes are those to topics until it happens, the last of which is not answered; 0 is at once.
	writes int
	// topic is that of the writes, "" for any.
	topic bus.Topic
	// part of what is written then arrives all the same, from 0 to 1; what is not answered is
	// written again.
	part float64
	// turns are those that the process waits, 0 for until it is woken.
	turns int
}

// thread is where a process does what it does: it may stop at a write, and go on later. Only one
// thread of a world goes on at a time. The zero value never stops.
type thread struct {
	// fault is what is to happen, or happens, nil for nothing.
	fault *fault
	// running says that it does something, and hung that it has stopped in the midst.
	running, hung bool
	// killed says that nothing of what it still writes arrives.
	killed      bool
	ended, goOn chan error
}

// run does something, up to its end or to where the thread stops, which is errHangs.
func (t *thread) run(what func() error) error {
	t.ended, t.goOn = make(chan error), make(chan error)
	t.running = true
	go func() { t.ended <- what() }()
	return t.await()
}

func (t *thread) await() error {
	err := <-t.ended
	t.hung = errors.Is(err, errHangs)
	t.running = t.hung
	return err
}

// waits reports whether the process waits for its brokers in this turn.
func (t *thread) waits() bool {
	if t.fault == nil || t.fault.writes > 0 {
		return false
	}
	if t.fault.turns--; t.fault.turns < 0 {
		t.fault = nil
		return false
	}
	return true
}

// due is the fault that happens at a write to a topic now, or nil.
func (t *thread) due(topic bus.Topic) *fault {
	if t.fault == nil || t.fault.writes == 0 || !t.running || t.fault.topic != "" && t.fault.topic != topic {
		return nil
	}
	if t.fault.writes--; t.fault.writes > 0 {
		return nil
	}
	return t.fault
}

// stop has the thread stop until it is to go on.
func (t *thread) stop() error {
	t.ended <- errHangs
	return <-t.goOn
}

// resume has a thread that has stopped go on.
func (t *thread) resume() error {
	if !t.hung {
		return nil
	}
	t.goOn <- nil
	return t.await()
}

// abandon ends a thread that has stopped.
func (t *thread) abandon() {
	t.fault = nil
	if t.hung {
		t.goOn <- errKilled
		_ = t.await()
	}
}

// written are the topics to which a process writes.
type written struct {
	topics
	*thread
}

// Write implements role.Bus.
func (w written) Write(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	if w.killed {
		return errKilled
	}
	if f := w.due(topic); f != nil {
		if n := int(f.part * float64(len(records)+1)); n > 0 {
			if err := w.topics.Write(ctx, topic, records[:min(n, len(records))]); err != nil {
				return err
			}
		}
		if err := cmp.Or(w.stop(), ctx.Err()); err != nil {
			return err // the process leads no more, or is killed
		}
	}
	return w.topics.Write(ctx, topic, records)
}

// Who is killed writes nothing more, whatever runs beside it.
func TestWhoIsKilledWritesNothing(t *testing.T) {
	d := newDeployment(t)
	var err error
	d.models, err = modelsOf(nil)
	require.NoError(t, err)
	d.config.MaxTimestepJump, d.groups = 1000, groupsOf(world{scorers: 2})
	require.NoError(t, d.startGroups(t.Context()))
	h := d.group(ofScore).hosts[0]
	writes := written{d.topics, &h.thread}
	records := []ingest.Outgoing{{Key: []byte("one")}}
	require.NoError(t, writes.Write(t.Context(), bus.Reasons, records))
	require.NoError(t, h.end())
	require.ErrorIs(t, writes.Write(t.Context(), bus.Reasons, records), errKilled)
	d.group(ofScore).hosts[0] = nil
	require.NoError(t, d.stopGroups())
}
