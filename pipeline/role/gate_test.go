package role

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
)

// lastTail has nothing, and its reader stopped once that has waited.
type lastTail struct{ stop func() }

func (l lastTail) Next(ctx context.Context) (bus.Batch, error) {
	<-ctx.Done()
	l.stop()
	return bus.Batch{}, ctx.Err()
}

func (l lastTail) NextOf(ctx context.Context, _ map[bus.Topic]bool) (bus.Batch, error) {
	return l.Next(ctx)
}

func (lastTail) Close() error { return nil }

// A process that stands by may be stopped at the moment at which it is to ask how far the leader is.
// That is no error of its own, which would end the service.
func TestAGateThatIsStoppedSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	g := newGate(ctx, lastTail{stop}, &Standing{Lead: &Lead{now: time.Now}}, map[bus.TopicPartition]int64{})
	g.waiting, g.asked = []bus.Batch{{Source: bus.TopicPartition{Topic: bus.Slices}, Next: 1}}, time.Now()
	_, err := g.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// toldTail gives batches in an order, and then nothing.
type toldTail struct{ batches []bus.Batch }

func (l *toldTail) Next(ctx context.Context) (bus.Batch, error) {
	return l.next(ctx, func(bus.Batch) bool { return true })
}

func (l *toldTail) NextOf(ctx context.Context, topics map[bus.Topic]bool) (bus.Batch, error) {
	return l.next(ctx, func(b bus.Batch) bool { return topics[b.Source.Topic] })
}

func (l *toldTail) next(ctx context.Context, wanted func(bus.Batch) bool) (bus.Batch, error) {
	at := slices.IndexFunc(l.batches, wanted)
	if at < 0 {
		<-ctx.Done()
		return bus.Batch{}, ctx.Err()
	}
	next := l.batches[at]
	l.batches = slices.Delete(l.batches, at, at+1)
	return next, nil
}

func (*toldTail) Close() error { return nil }

// dealtAll is a group whose leader has dealt with everything.
type dealtAll struct{ Sharer }

func (dealtAll) Positions(
	_ context.Context, _ bus.GroupConfig, of []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	out := make(map[bus.TopicPartition]int64)
	for _, tp := range of {
		out[tp] = 1000
	}
	return out, nil
}

// dealtNothing is a group whose leader has said nothing and is gone.
type dealtNothing struct{ Sharer }

func (dealtNothing) Positions(
	context.Context, bus.GroupConfig, []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	return nil, nil
}

// What is read without waiting for the leader is read however much waits for him: if he is gone, this process reads
// it to its end before it leads, and would never lead. No more than may wait is read ahead.
func TestAFullGateGivesWhatWaitsForNobody(t *testing.T) {
	records, graphs := bus.TopicPartition{Topic: bus.Transactions}, bus.TopicPartition{Topic: bus.Snapshots}
	tail := new(toldTail)
	for next := range int64(2 * gateBatches) {
		tail.batches = append(tail.batches, bus.Batch{Source: records, Next: next + 1})
	}
	tail.batches = append(tail.batches, bus.Batch{Source: graphs, Next: 1}, bus.Batch{Source: graphs, Next: 2})
	s := &Standing{Lead: &Lead{now: time.Now, sharer: dealtNothing{}}, Open: []bus.Topic{bus.Snapshots}}
	g := newGate(t.Context(), tail, s, map[bus.TopicPartition]int64{records: 0, graphs: bus.FromStart})
	patient, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for next := range int64(2) {
		batch, err := g.Next(patient)
		require.NoError(t, err)
		require.Equal(t, bus.Batch{Source: graphs, Next: next + 1}, batch)
	}
	require.Len(t, g.waiting, gateBatches)
}

// slowGroup is a group whose brokers take a while to say how far the leader is.
type slowGroup struct{ dealtAll }

func (s slowGroup) Positions(
	ctx context.Context, g bus.GroupConfig, of []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	select {
	case <-time.After(20 * time.Millisecond):
		return s.dealtAll.Positions(ctx, g, of)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A process that stands by is woken while brokers are asked how far the leader is, again and again. They are
// asked to the end: broken off each time, they would never say it.
func TestBrokersAreAskedToTheEndThoughTheRoleIsWoken(t *testing.T) {
	from := bus.TopicPartition{Topic: bus.Slices}
	s := &Standing{Lead: &Lead{now: time.Now, sharer: slowGroup{}}}
	g := newGate(t.Context(), new(toldTail), s, map[bus.TopicPartition]int64{from: 0})
	g.waiting = []bus.Batch{{Source: from, Next: 1}}
	for range 5 {
		woken, wake := context.WithTimeout(t.Context(), time.Millisecond)
		batch, err := g.Next(woken)
		wake()
		if err == nil {
			require.Equal(t, from, batch.Source)
			return
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Fail(t, "it is not given what the leader has dealt with")
}
