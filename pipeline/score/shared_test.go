package score

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/score/share"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// standing are the keys of the records that a topic holds.
func standing(t *testing.T, topics *roletest.Bus, of bus.Topic) map[string]bool {
	t.Helper()
	keys := make(map[string]bool)
	require.NoError(t, topics.ReadAll(t.Context(), of, func(rec ingest.Record) error {
		if keys[string(rec.Key)] = true; rec.Tombstone() {
			delete(keys, string(rec.Key))
		}
		return nil
	}))
	return keys
}

// sharing is a process's part in scoring together, which runs.
func sharing(t *testing.T, o Options, instance string, term int64) *share.Shared {
	t.Helper()
	p, err := newPredictor(o)
	require.NoError(t, err)
	around := o.Surroundings
	around.Standing = &role.Standing{Term: term}
	s := share.New(share.Options{
		From: 1, Runner: p.runner, OneHop: onehop.None, Kernels: o.Kernels.Name, Role: roleName, Instance: instance,
		Around: around,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return s
}

// A process that stands by answers for models of the one that leads, with the same bits, and
// nothing of it stays in the topic.
func TestWhoStandsByAnswers(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	served, err := ensemble.Of([]*trainer.Checkpoint{w.checkpoint(0, 2), w.checkpoint(1, 2)}, nil)
	require.NoError(t, err)
	leads, by := sharing(t, o, "one", 1), sharing(t, o, "two", 0)
	require.Eventually(t, func() bool { return topics.Idle(2) }, time.Minute, time.Millisecond)
	message := w.graph(3)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, message))
	by.Serve(served)

	graph := w.graphs[3]
	help, ask := leads.Help(served, graph, message.Payload)
	require.Nil(t, ask, "nobody else is known")
	require.Nil(t, help.Order)
	leads.Take(wire.Notice{Member: &wire.Member{Role: roleName, Identity: "two"}})
	_, ask = leads.Help(served, graph, message.Payload)
	require.Equal(t, []string{"one", "two"}, ask.Members)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, ask.Message()))
	help, again := leads.Help(served, graph, message.Payload)
	require.Nil(t, again)
	require.Equal(t, []lethe.ShardID{0, 1}, help.Order)
	require.Eventually(t, func() bool { return help.Known(1) != nil }, time.Minute, time.Millisecond)

	p, err := newPredictor(o)
	require.NoError(t, err)
	said, err := p.runner.AskOne(t.Context(), served.Models, trainer.InputOf(graph), 1)
	require.NoError(t, err)
	require.Equal(t, said, help.Known(1))
	// Of another graph nothing is known, and nothing is taken of it.
	other := w.graph(2)
	asked, _ := leads.Help(served, w.graphs[2], other.Payload)
	require.Nil(t, asked.Known, "it is to be asked first")
	require.Nil(t, help.Known(1))

	records, _ := leads.Left()
	require.Empty(t, records, "it is waited for")
	leads.Done()
	require.Eventually(t, func() bool {
		records, note := leads.Left()
		require.NoError(t, topics.Write(t.Context(), bus.Answers, records))
		require.NoError(t, note())
		return len(standing(t, topics, bus.Answers)) == 0
	}, time.Minute, time.Millisecond)
	records, _ = by.Left()
	require.Empty(t, records, "who stands by withdraws nothing")
}

// What a leader left that was killed, the next one withdraws before it does anything.
func TestTheNextLeaderWithdrawsWhatIsLeft(t *testing.T) {
	topics := topics()
	ask := &wire.Ask{Question: wire.Question{Timestep: 7}, Members: []string{"one", "two"}}
	answer := &wire.Answer{Question: ask.Question, Model: 1, Posteriors: []float32{.5}}
	require.NoError(t, wire.Publish(t.Context(), topics, 1, ask.Message(), answer.Message()))
	s := sharing(t, optionsFor(topics), "two", 1)
	select {
	case <-s.Wake():
	case <-time.After(time.Minute):
		require.Fail(t, "nobody is told")
	}
	records, _ := s.Left()
	require.Equal(t, []ingest.Outgoing{{Key: []byte("answer/1/7/0")}, {Key: []byte("ask/7/0")}}, records)
}

// Two processes that score together publish what one publishes alone, and leave nothing.
func TestTwoScoreAsOne(t *testing.T) {
	w := newScenario(t, 4)
	alone := topics()
	o := optionsFor(alone)
	o.Dir = t.TempDir()
	_, stop := running(t, o)
	for at := lethe.Timestep(1); at <= 4; at++ {
		publish(t, alone, w, at)
	}
	idle(t, alone)
	stop()

	together, group := topics(), roletest.NewGroup()
	for _, name := range []string{"one", "two"} {
		member, err := wire.Member{Role: roleName, Identity: name, Run: "1"}.Record()
		require.NoError(t, err)
		require.NoError(t, together.Write(t.Context(), bus.Control, []ingest.Outgoing{member}))
		startHot(t, name, together, group)
	}
	// Each follows the topics and the answers, and who leads late predictions; once all is read, each knows of the other.
	require.Eventually(t, func() bool { return together.Idle(5) }, time.Minute, time.Millisecond)
	for at := lethe.Timestep(1); at <= 4; at++ {
		publish(t, together, w, at)
	}
	want := predictions(t, alone)
	require.Eventually(t, func() bool { return len(predictions(t, together)) == len(want) }, time.Minute, time.Millisecond)
	require.Equal(t, want, predictions(t, together))
	require.Eventually(t, func() bool {
		return len(standing(t, together, bus.Answers)) == 0
	}, time.Minute, time.Millisecond)
	asked := 0
	require.NoError(t, together.ReadAll(t.Context(), bus.Answers, func(rec ingest.Record) error {
		if !rec.Tombstone() {
			asked++
		}
		return nil
	}))
	require.NotZero(t, asked, "nothing was shared")
}

// startHot starts a process that leads or stands by.
func startHot(t *testing.T, name string, topics *roletest.Bus, group *roletest.Group) {
	t.Helper()
	startHotStopped(t, name, topics, group)
}

// startHotStopped is startHot of a process that may be stopped before the test ends.
func startHotStopped(t *testing.T, name string, topics *roletest.Bus, group *roletest.Group) (stop func()) {
	t.Helper()
	return startHotOn(t, name, optionsFor(topics), group)
}

// startHotOn is startHotStopped with options of its own.
func startHotOn(t *testing.T, name string, o Options, group *roletest.Group) (stop func()) {
	t.Helper()
	o.Dir, o.Instance, o.Scoring.ShareFrom = t.TempDir(), name, 1
	topics, log := o.Bus, slog.New(slog.DiscardHandler)
	lead := role.NewLead(roleName, name, group.Member(name), time.Now, log)
	r, err := role.Hot(t.Context(), roleName, lead, func(_ context.Context, s *role.Standing) (*role.Follower, error) {
		as := o
		as.Standing, as.Bus = s, s.Fenced(topics)
		return New(as)
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, r.Close())
	})
	t.Cleanup(stop)
	return stop
}
