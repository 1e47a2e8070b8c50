package role_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// A leader that brokers do not answer publishes nothing, and what it had not published the next
// one does. When it hears again it stands by, and is not ahead of the other.
func TestALeaderThatIsCutOffPublishesNothing(t *testing.T) {
	p := newPair(t)
	p.group.Lead("one") // whichever is the first member
	p.start("one")
	p.start("two")
	p.publish(1)
	p.await("1 one")
	p.taken("two", 1)
	p.group.Deafen("one", true)
	time.Sleep(roletest.GroupSession)
	p.group.Lead("two")
	p.await("1 one", "1 two")
	p.publish(2)
	p.await("1 one", "1 two", "2 two")
	p.group.Deafen("one", false)
	p.taken("one", 2)
	p.publish(3)
	p.await("1 one", "1 two", "2 two", "3 two")
	p.taken("one", 3)
}

// slowBus does not answer who writes models to it, as long as that is held up.
type slowBus struct {
	*roletest.Bus
	mu sync.Mutex
	// held is told of what waits, and gaveUp that it waits no more; nil holds nothing up.
	held, gaveUp chan struct{}
}

func (s *slowBus) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if held != nil && t == bus.Models {
		close(held)
		<-ctx.Done()
		close(s.gaveUp)
		return ctx.Err()
	}
	return s.Bus.Write(ctx, t, records)
}

func (s *slowBus) hold(held chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
}

// A leader may be cut off from brokers in the midst of writing, which takes as long as they are away.
// When they come back another one leads, so what it was about to write is not written any more.
func TestALeaderCutOffAsItWritesGivesUp(t *testing.T) {
	p := newPair(t)
	slow := &slowBus{Bus: p.topics, gaveUp: make(chan struct{})}
	p.writes = map[string]role.Bus{"one": slow}
	p.start("one")
	p.publish(1)
	p.await("1 one")
	p.start("two")
	p.taken("two", 1)
	held := make(chan struct{})
	slow.hold(held)
	p.publish(2)
	<-held
	slow.hold(nil)
	p.group.Deafen("one", true)
	p.group.Lead("two")
	p.await("1 one", "2 two")
	select {
	case <-slow.gaveUp:
	case <-time.After(time.Minute):
		t.Fatal("it still writes")
	}
	p.group.Deafen("one", false)
	p.taken("one", 2)
	p.await("1 one", "2 two")
}

// What a leader that was replaced still publishes is left out, whatever it is.
func TestWhatAReplacedLeaderPublishesIsLeftOut(t *testing.T) {
	topics := roletest.NewBus(nil)
	send := func(generation int64, m wire.Message) {
		by := written{topics, wire.Owner{Generation: generation, Instance: "one"}}
		require.NoError(t, wire.Publish(t.Context(), by, 1, m))
	}
	first, second := slice(1), slice(1)
	second.Payload = []byte("second")
	second.Revision = 2
	send(2, second)
	send(1, first)
	got := roletest.Messages(t, topics, bus.Slices)
	require.Len(t, got, 1)
	require.Equal(t, "second", string(got[0].Payload))
}

// written is a bus to which somebody writes.
type written struct {
	*roletest.Bus
	by wire.Owner
}

func (w written) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return w.Bus.Write(ctx, t, wire.OwnedBy(w.by, records))
}
