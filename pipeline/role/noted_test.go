package role_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// predicting is an echo that writes a prediction for every slice.
type predicting struct {
	echo
	due     []wire.Received
	unnoted atomic.Bool
}

func (l *predicting) Step(_ context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	if l.due = append(l.due, in.Messages...); len(l.due) == 0 {
		return role.Output{Idle: true, Unnoted: l.unnoted.Load()}, nil
	}
	m := l.due[0]
	records := []ingest.Outgoing{{Key: []byte(m.Key.String())}}
	return role.Output{Topic: bus.Predictions, Records: records, Note: func() error {
		l.say("note %s", m.Key)
		l.due = l.due[1:]
		return nil
	}}, nil
}

// Up to where a topic ends is announced as noted only once what those before have written to it is noted, too.
func TestWhatThoseBeforeWroteIsNotedBeforeItIsAnnounced(t *testing.T) {
	p, logic := newPair(t), new(predicting)
	logic.unnoted.Store(true)
	log := slog.New(slog.DiscardHandler)
	lead := role.NewLead("echo", "one", p.group.Member("one"), time.Now, log)
	r, err := role.Hot(t.Context(), "echo", lead, func(_ context.Context, s *role.Standing) (*role.Follower, error) {
		around := role.Around(s.Fenced(p.topics), events.Listener{}, log)
		around.Standing, s.Noted = s, []bus.Topic{bus.Predictions}
		return role.Follow("echo", logic, around), nil
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-ended)
	}()
	// announced is up to where the group has been told that slices are dealt with, and predictions noted.
	announced := func(slices int64) int64 {
		require.Eventually(t, func() bool {
			return p.group.Positions()[bus.TopicPartition{Topic: bus.Slices}] >= slices
		}, time.Minute, time.Millisecond)
		return p.group.Positions()[bus.TopicPartition{Topic: bus.Predictions}]
	}
	p.publish(1)
	require.Eventually(t, func() bool { return logic.has("note slice/1/1") }, time.Minute, time.Millisecond)
	ends, err := bus.EndsOf(t.Context(), p.topics, bus.Slices)
	require.NoError(t, err)
	end := ends[bus.TopicPartition{Topic: bus.Slices}]
	require.Zero(t, announced(end))

	logic.unnoted.Store(false)
	p.publish(2)
	require.EqualValues(t, 2, announced(2*end))
}
