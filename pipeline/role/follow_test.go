package role_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// echo sends every slice on as a model, one per step, and resumes after it.
type echo struct {
	mu     sync.Mutex
	lines  []string
	resume int64
	due    []wire.Received
	closed bool
	// waits says that something is due later.
	waits bool
	// place is that of the last entry of the journal that was done.
	place journal.Place
}

func (e *echo) Topics() []bus.Topic { return []bus.Topic{bus.Slices} }

func (e *echo) Resume(source bus.TopicPartition, count int) (int64, error) {
	e.say("resume %s of %d at %d", source, count, e.resume)
	return e.resume, nil
}

func (e *echo) Step(_ context.Context, now func() time.Time, in role.Input) (role.Output, error) {
	for _, m := range in.Messages {
		e.say("take %s", m.Key)
		e.due = append(e.due, m)
	}
	for _, n := range in.Notices {
		e.say("notice of %s", n.Deleted)
	}
	if len(e.due) == 0 {
		return role.Output{Idle: true, Waits: e.waits}, nil
	}
	m := e.due[0]
	if m.Key.Timestep == 13 {
		return role.Output{}, fmt.Errorf("timestep 13 at %s", now().Format(time.Kitchen))
	}
	m.Key.Kind = wire.KindModel
	return role.Output{Messages: []wire.Message{m.Message}, Note: func() error {
		e.say("note %s", m.Key)
		e.due, e.resume = e.due[1:], m.Next
		return nil
	}}, nil
}

func (e *echo) Status() *role.Status {
	return &role.Status{Ensemble: &role.Ensemble{Through: lethe.Timestep(e.resume)}}
}

func (e *echo) Close() error {
	e.closed = true
	return nil
}

func (e *echo) has(line string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.lines, line)
}

func (e *echo) say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, fmt.Sprintf(format, args...))
}

// take returns what was said since the last call.
func (e *echo) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := strings.Join(e.lines, "\n")
	e.lines = nil
	return out
}

func slice(at lethe.Timestep) wire.Message {
	return wire.Message{
		Key: wire.Key{Kind: wire.KindSlice, Shard: 1, Timestep: at}, Revision: 1, Payload: make([]byte, 700<<10),
	}
}

// start runs a role until stop, which returns what Run returned.
func start(t *testing.T, f *role.Follower) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func idle(t *testing.T, topics *roletest.Bus) {
	t.Helper()
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
}

// A role takes whole messages and notices, publishes before it notes, and goes
// on from where it was.
func TestRoleFollowsItsTopics(t *testing.T) {
	topics, logic := roletest.NewBus(map[bus.Topic]int{bus.Slices: 2, bus.Models: 2}), &echo{}
	var lag []events.LagMeasured
	listener := events.On(func(e events.LagMeasured) { lag = append(lag, e) })
	f := role.Follow("echo", logic, role.Around(topics, listener, slog.New(slog.DiscardHandler)))
	stop := start(t, f)
	idle(t, topics)
	require.Equal(t, "resume slices.v1/0 of 2 at 0\nresume slices.v1/1 of 2 at 0", logic.take())
	require.NoError(t, wire.Publish(t.Context(), topics, 2, slice(1), slice(2)))
	deleted := []ingest.Outgoing{wire.CommandTombstone("gdpr-1")}
	require.NoError(t, topics.Write(t.Context(), bus.Control, deleted))
	idle(t, topics)
	require.NoError(t, stop())
	said := logic.take()
	require.Contains(t, said, "take slice/1/1\ntake slice/1/2\nnote model/1/1\nnote model/1/2")
	require.Contains(t, said, "notice of gdpr-1")
	require.Equal(t, lethe.Timestep(4), f.Status().Ensemble.Through, "two messages of two chunks")
	require.Equal(t, "echo", f.Name())
	for _, e := range lag {
		require.Equal(t, string(bus.Slices), e.Topic, "the lag of notices is nobody's business")
	}
	models := 0
	for _, rec := range roletest.Records(t, topics, bus.Models) {
		require.Equal(t, 1, rec.Partition, "a shard's models share the partition of the shard")
		models++
	}
	require.Equal(t, 4, models)

	stop = start(t, f)
	idle(t, topics)
	require.NoError(t, stop())
	require.Contains(t, logic.take(), "resume slices.v1/1 of 2 at 4")
	require.NoError(t, f.Close())
	require.True(t, logic.closed)
}

// What was not published is not noted, and comes again before anything new.
func TestNothingIsNotedBeforeItIsPublished(t *testing.T) {
	topics, logic := roletest.NewBus(nil), &echo{}
	f := role.Follow("echo", logic, role.Around(topics, nil, slog.New(slog.DiscardHandler)))
	refused := errors.New("refused")
	topics.Refuse(refused)
	in := role.Input{Messages: []wire.Received{{Message: slice(1), Next: 1}}}
	require.ErrorIs(t, f.Feed(t.Context(), in), refused)
	require.Equal(t, "take slice/1/1", logic.take())
	topics.Refuse(nil)
	require.NoError(t, f.Feed(t.Context(), role.Input{}))
	require.Equal(t, "note model/1/1", logic.take())
}

// An error of the logic ends the role; being stopped is none.
func TestErrorsEndARoleAndStoppingIsNone(t *testing.T) {
	topics := roletest.NewBus(nil)
	noon := func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
	around := role.Around(topics, nil, slog.New(slog.DiscardHandler))
	around.Clock = noon
	f := role.Follow("echo", &echo{}, around)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, slice(13)))
	require.EqualError(t, f.Run(t.Context()), "timestep 13 at 12:00PM")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, f.Run(ctx))
}

// A role that begins behind what the present leader wrote hears first who that is: what one who led before writes late
// is left out, be it there already or not, and what who leads writes is taken.
func TestWhatIsLateIsLeftOutFromTheStart(t *testing.T) {
	topics, logic := roletest.NewBus(nil), &echo{}
	write := func(generation int64, of bus.Topic, records ...ingest.Outgoing) {
		by := wire.Owner{Generation: generation, Instance: "one"}
		require.NoError(t, topics.Write(t.Context(), of, wire.OwnedBy(by, records)))
	}
	lead := func(epoch, from int64) {
		began := journal.EpochBegan{Ends: map[string]int64{"slices.v1/0": from}}
		entry := journal.Entry{Role: "graphs", Epoch: epoch, Instance: "one", Decision: began}
		record, err := entry.Record()
		require.NoError(t, err)
		require.NoError(t, topics.Write(t.Context(), bus.Journal, []ingest.Outgoing{record}))
	}
	deleted := func(generation int64, at lethe.Timestep) {
		key := wire.Key{Kind: wire.KindSlice, Shard: 1, Timestep: at}
		write(generation, bus.Slices, bus.RetractFrom(key.String(), 0, 1)...)
	}
	deleted(1, 1)
	deleted(2, 2)
	deleted(1, 3)
	lead(2, 1)
	logic.resume = 2
	f := role.Follow("echo", logic, role.Around(topics, nil, slog.New(slog.DiscardHandler)))
	stop := start(t, f)
	idle(t, topics)
	deleted(2, 4)
	idle(t, topics)
	lead(3, 4)
	idle(t, topics)
	deleted(2, 5)
	deleted(3, 6)
	idle(t, topics)
	require.NoError(t, stop())
	var taken []string
	for line := range strings.Lines(logic.take()) {
		if strings.HasPrefix(line, "take ") {
			taken = append(taken, strings.TrimSpace(line))
		}
	}
	require.Equal(t, []string{"take slice/1/4", "take slice/1/6"}, taken)
}
