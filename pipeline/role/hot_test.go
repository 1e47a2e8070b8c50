package role_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// pair are two processes of a role that sends every slice on as a model.
type pair struct {
	t      *testing.T
	topics *roletest.Bus
	group  *roletest.Group
	// open are the topics that are read without waiting for who leads.
	open   []bus.Topic
	logics map[string]*echo
	stops  map[string]func() error
}

func newPair(t *testing.T) *pair {
	return &pair{
		t: t, topics: roletest.NewBus(nil), group: roletest.NewGroup(), logics: make(map[string]*echo),
		stops: make(map[string]func() error),
	}
}

// start starts a process, whose state outlives it.
func (p *pair) start(name string) {
	p.t.Helper()
	if p.logics[name] == nil {
		p.logics[name] = new(echo)
	}
	logic, log := p.logics[name], slog.New(slog.DiscardHandler)
	lead := role.NewLead("echo", name, p.group.Member(name), log)
	r, err := role.Hot(p.t.Context(), "echo", lead, func(_ context.Context, s *role.Standing) (*role.Follower, error) {
		around := role.Around(s.Fenced(p.topics), events.Listener{}, log)
		around.Standing, s.Open = s, p.open
		return role.Follow("echo", logic, around), nil
	})
	require.NoError(p.t, err)
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	p.stops[name] = func() error {
		cancel()
		delete(p.stops, name)
		return <-ended
	}
	p.t.Cleanup(func() {
		if stop := p.stops[name]; stop != nil {
			require.NoError(p.t, stop())
		}
	})
}

func (p *pair) publish(at ...lethe.Timestep) {
	p.t.Helper()
	for _, t := range at {
		require.NoError(p.t, wire.Publish(p.t.Context(), p.topics, 1, slice(t)))
	}
}

// models are the timesteps and the writers of the models that are there, in order.
func (p *pair) models() (out []string) {
	p.t.Helper()
	reader := wire.NewReader()
	require.NoError(p.t, p.topics.ReadAll(p.t.Context(), bus.Models, func(rec ingest.Record) error {
		batch := bus.Batch{Source: bus.TopicPartition{Topic: bus.Models}, Records: []ingest.Record{rec}}
		list, err := reader.Read(batch)
		for _, m := range list {
			out = append(out, fmt.Sprintf("%d %s", m.Key.Timestep, m.Owner.Instance))
		}
		return err
	}))
	return out
}

func (p *pair) await(want ...string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return fmt.Sprint(p.models()) == fmt.Sprint(want) }, time.Minute,
		10*time.Millisecond, "want %s", want)
}

// noted waits until a process has noted timesteps as sent, since it was asked last.
func (p *pair) noted(name string, at ...lethe.Timestep) {
	p.t.Helper()
	for _, t := range at {
		require.Eventually(p.t, func() bool { return p.logics[name].has(fmt.Sprintf("note model/1/%d", t)) },
			time.Minute, time.Millisecond)
	}
}

// One leads and the other follows without publishing anything. When the first one is gone the
// other goes on where it was.
func TestOneLeadsAndAnotherStandsBy(t *testing.T) {
	p := newPair(t)
	p.start("one")
	p.publish(1)
	p.await("1 one")
	p.start("two")
	p.publish(2)
	p.await("1 one", "2 one")
	p.noted("two", 1, 2)

	require.NoError(t, p.stops["one"]())
	p.publish(3)
	time.Sleep(50 * time.Millisecond)
	require.False(t, p.logics["two"].has("take slice/1/3"), "what nobody has dealt with is not taken")
	p.group.Lead("two")
	p.await("1 one", "2 one", "3 two")

	// The first one comes back, has the rest told by the other, and stands by.
	p.start("one")
	p.publish(4)
	p.await("1 one", "2 one", "3 two", "4 two")
	p.noted("one", 3, 4)
}

// A process that was killed before brokers knew how far it was comes back alone. Nobody else can
// say that what it has noted is dealt with, so it does not wait for that once it leads.
func TestWhoComesBackAloneDoesNotWaitForAnother(t *testing.T) {
	p := newPair(t)
	p.open = []bus.Topic{bus.ErasureStatus} // who leads has read it to its end first
	record, err := wire.Leader{Role: "echo", Identity: "one"}.Record()
	require.NoError(t, err)
	require.NoError(t, p.topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{record}))
	p.start("one")
	p.publish(1)
	p.await("1 one")
	p.noted("one", 1)
	require.NoError(t, p.stops["one"]())
	p.group = roletest.NewGroup()
	p.start("one")
	p.publish(2)
	p.await("1 one", "2 one")
}

// A leader that brokers do not answer publishes nothing, and what it had not published the next
// one does. When it hears again it stands by, and is not ahead of the other.
func TestALeaderThatIsCutOffPublishesNothing(t *testing.T) {
	p := newPair(t)
	p.start("one")
	p.start("two")
	p.publish(1)
	p.await("1 one")
	p.noted("two", 1)
	p.group.Deafen("one", true)
	time.Sleep(roletest.GroupSession)
	p.group.Lead("two")
	p.await("1 one")
	p.publish(2)
	p.await("1 one", "2 two")
	p.group.Deafen("one", false)
	p.noted("one", 2)
	p.publish(3)
	p.await("1 one", "2 two", "3 two")
	p.noted("one", 3)
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
	reader := wire.NewReader()
	var got []string
	require.NoError(t, topics.ReadAll(t.Context(), bus.Slices, func(rec ingest.Record) error {
		batch := bus.Batch{Source: bus.TopicPartition{Topic: bus.Slices}, Records: []ingest.Record{rec}}
		list, err := reader.Read(batch)
		for _, m := range list {
			got = append(got, string(m.Payload))
		}
		return err
	}))
	require.Equal(t, []string{"second"}, got)
}

// written is a bus to which somebody writes.
type written struct {
	*roletest.Bus
	by wire.Owner
}

func (w written) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return w.Bus.Write(ctx, t, wire.OwnedBy(w.by, records))
}
