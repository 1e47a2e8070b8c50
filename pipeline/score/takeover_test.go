package score

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

var errPulled = errors.New("the cable was pulled")

// cutOff are topics of which the predictions are written in part, and that is all.
type cutOff struct {
	role.Bus
	part int
}

// Write implements role.Bus.
func (c cutOff) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t != bus.Predictions {
		return c.Bus.Write(ctx, t, records)
	}
	return errors.Join(errPulled, c.Bus.Write(ctx, t, records[:min(c.part, len(records))]))
}

// allNoted are brokers to which whoever led has announced that all predictions there are were noted.
type allNoted struct{ *roletest.Bus }

// Share implements role.Sharer.
func (allNoted) Share(context.Context, bus.GroupConfig, bus.Member) error { return nil }

// Session implements role.Sharer.
func (allNoted) Session() time.Duration { return roletest.GroupSession }

// Positions implements role.Sharer.
func (n allNoted) Positions(
	ctx context.Context, _ bus.GroupConfig, _ []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	return bus.EndsOf(ctx, n.Bus, bus.Predictions)
}

// Who takes over predicts nothing again that the one before had sent and not noted, though the graph
// has changed since; and all else.
func TestWhatWasSentIsNotPredictedAgain(t *testing.T) {
	for name, sent := range map[string]int{"nothing": 0, "a part": 2, "everything": nodes} {
		t.Run(name, func(t *testing.T) {
			topics, w, group := topics(), newScenario(t, 3), roletest.NewGroup()
			ended := startCutOff(t, topics, group, sent)
			publish(t, topics, w, 1)
			publish(t, topics, w, 2)
			require.ErrorIs(t, <-ended, errPulled)
			require.Len(t, predictions(t, topics), sent)

			gone := w.erase(2, 0)
			require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
			startHot(t, "two", topics, group)
			group.Lead("two")
			// Timesteps come one after the other: once this one is there, that before is noted.
			for shard := range lethe.ShardID(shards) {
				require.NoError(t, wire.Publish(t.Context(), topics, 2, w.model(shard, 2)))
			}
			publish(t, topics, w, 3)
			times := func() map[lethe.TransactionID]int {
				times := make(map[lethe.TransactionID]int)
				for _, p := range predictions(t, topics) {
					times[p.Transaction]++
				}
				delete(times, gone) // it is withdrawn by those who erase it
				return times
			}
			require.Eventually(t, func() bool { return len(times()) == 2*nodes-1 }, time.Minute, time.Millisecond)
			for _, count := range times() {
				require.Equal(t, 1, count, "predictions of a transaction")
			}
		})
	}
}

// Who takes over gives no provisional score to what has a final one that was sent and not noted: it would be the
// newest, and no other follows it.
func TestNoProvisionalScoreFollowsAFinalOneOfBefore(t *testing.T) {
	topics, w, group := topics(), newScenario(t, 3), roletest.NewGroup()
	o := optionsFor(topics)
	o.Dir, o.Instance, o.MaxTimestepJump = t.TempDir(), "two", 1000
	_, stop := running(t, o)
	publish(t, topics, w, 1)
	idle(t, topics)
	stop() // before it has read of the second
	ended := startCutOff(t, topics, group, nodes)
	publish(t, topics, w, 2)
	require.ErrorIs(t, <-ended, errPulled)

	o.Scoring.Provisional = true
	o.Standing = &role.Standing{
		Lead: role.NewLead(roleName, "two", group.Member("two"), time.Now, slog.New(slog.DiscardHandler)), Term: 1,
	}
	l, err := open(o)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	require.NotNil(t, l.state.served)
	g := w.graphs[2]
	arrives := func(id lethe.TransactionID) {
		l.arrivals.window.Transaction(lethe.Transaction{ID: id, Timestep: 2, Features: g.Row(0)}, time.Time{})
	}
	arrives(g.Nodes[0].ID)
	pass, err := l.arrivals.scoreSome(t.Context(), true)
	require.NoError(t, err)
	require.Nil(t, pass, "nothing is scored before it is known what was sent")
	_, err = l.Step(t.Context(), time.Now, role.Input{})
	require.NoError(t, err)
	arrives(g.Nodes[1].ID)
	require.Zero(t, l.arrivals.window.Len())
	arrives("new")
	require.Equal(t, 1, l.arrivals.window.Len())
}

// startCutOff starts a process that leads, and ends once it was to write predictions.
func startCutOff(t *testing.T, topics *roletest.Bus, group *roletest.Group, part int) <-chan error {
	t.Helper()
	o := optionsFor(topics)
	o.Dir, o.Instance = t.TempDir(), "one"
	lead := role.NewLead(roleName, "one", group.Member("one"), time.Now, slog.New(slog.DiscardHandler))
	r, err := role.Hot(t.Context(), roleName, lead, func(_ context.Context, s *role.Standing) (*role.Follower, error) {
		as := o
		as.Standing, as.Bus = s, s.Fenced(cutOff{topics, part})
		return New(as)
	})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(r.Run(t.Context()), r.Close()) }()
	return ended
}

// Up to where all that was sent is noted is announced, so that whoever takes over reads no more than
// what stands behind.
func TestWhatIsNotedIsAnnounced(t *testing.T) {
	topics, w, group := topics(), newScenario(t, 2), roletest.NewGroup()
	startHot(t, "one", topics, group)
	publish(t, topics, w, 1)
	publish(t, topics, w, 2)
	require.Eventually(t, func() bool { return len(predictions(t, topics)) == nodes }, time.Minute, time.Millisecond)
	ends, err := bus.EndsOf(t.Context(), topics, bus.Predictions)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		at := group.Positions()
		for tp, end := range ends {
			if at[tp] != end {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)
	as := &role.Standing{Lead: role.NewLead(roleName, "two", group.Member("two"), time.Now, slog.New(slog.DiscardHandler))}
	unnoted, err := as.Unnoted(t.Context(), topics, bus.Predictions)
	require.NoError(t, err)
	require.Equal(t, ends, unnoted)
}
