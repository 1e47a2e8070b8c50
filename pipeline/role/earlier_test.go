package role_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// byHand is a group with one member, which is told and asked when a test says so.
type byHand struct {
	positions map[bus.TopicPartition]int64
	joined    chan bus.Member
}

func (h byHand) Share(ctx context.Context, _ bus.GroupConfig, m bus.Member) error {
	h.joined <- m
	<-ctx.Done()
	return nil
}

func (byHand) Session() time.Duration { return roletest.GroupSession }

func (h byHand) Positions(
	context.Context, bus.GroupConfig, []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	return maps.Clone(h.positions), nil
}

// commit commits what a member has dealt with.
func (h byHand) commit(m bus.Member, generation int64) {
	maps.Copy(h.positions, m.Positions())
	m.Committed(generation, time.Now())
}

// Who is to lead commits positions from the first moment on, to learn whether it still leads. What those before have
// said of control.v1 stays that: it would wait for it for ever once it had taken it back itself.
func TestWhoIsToLeadTakesNothingBackOfWhatThoseBeforeHaveSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topics, control := roletest.NewBus(nil), bus.TopicPartition{Topic: bus.Control}
		for _, name := range []string{"a", "b"} {
			record, err := wire.Barrier{Name: name}.Record()
			require.NoError(t, err)
			require.NoError(t, topics.Write(t.Context(), bus.Control, []ingest.Outgoing{record}))
		}
		group := byHand{map[bus.TopicPartition]int64{control: 2}, make(chan bus.Member, 1)}
		log := slog.New(slog.DiscardHandler)
		lead := role.NewLead("echo", "two", group, time.Now, log)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		ended := make(chan error, 1)
		go func() { ended <- lead.Run(ctx) }()
		defer func() {
			stop()
			require.NoError(t, <-ended)
		}()
		m := <-group.joined
		open := func(term int64) (*role.Follower, *role.Beginning) {
			around := role.Around(topics, events.Listener{}, log)
			around.Standing = &role.Standing{Lead: lead, Term: term}
			f := role.Follow("echo", new(echo), around)
			b, err := f.Open(ctx)
			require.NoError(t, err)
			return f, b
		}

		f, b := open(0)
		m.Assigned(bus.Assigned{Generation: 2, Partitions: []int{0}})
		group.commit(m, 2)
		require.EqualValues(t, 2, group.positions[control], "before it was asked for")
		prepared, err := f.Prepared(ctx)
		require.NoError(t, err)
		require.False(t, prepared)
		require.NotEmpty(t, m.Positions(), "brokers are asked whether it leads")
		group.commit(m, 2)
		begun, err := b.Begin(ctx)
		require.NoError(t, err)
		require.True(t, begun)
		for _, next := range []int64{0, 2} { // of the journal, which is empty, and control.v1
			batch, err := b.Tail.Next(ctx)
			require.NoError(t, err, "what those before have dealt with is given")
			require.Equal(t, next, batch.Next)
			require.NoError(t, f.Arrived(ctx, batch, false))
		}
		prepared, err = f.Prepared(ctx)
		require.NoError(t, err)
		require.True(t, prepared)
		require.NoError(t, errors.Join(b.Tail.Close(), f.Close()))

		f, b = open(lead.Next(0))
		begun, err = b.Begin(ctx)
		require.NoError(t, err)
		require.True(t, begun)
		group.commit(m, 2)
		require.EqualValues(t, 2, group.positions[control], "it has yet to read it again")
		require.NoError(t, errors.Join(b.Tail.Close(), f.Close()))
	})
}
