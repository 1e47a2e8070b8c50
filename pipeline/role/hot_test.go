package role_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// One leads and the other follows without publishing anything. When the first one is gone the
// other publishes what the last entry leads to, and goes on.
func TestOneLeadsAndAnotherStandsBy(t *testing.T) {
	p := newPair(t)
	p.start("one")
	p.publish(1)
	p.await("1 one")
	p.start("two")
	p.publish(2)
	p.await("1 one", "2 one")
	p.taken("two", 1, 2)

	require.NoError(t, p.stops["one"]())
	p.publish(3)
	time.Sleep(50 * time.Millisecond)
	require.False(t, p.logics["two"].has("take slice/1/3"), "what no entry names is not taken")
	p.group.Lead("two")
	p.await("1 one", "2 one", "2 two", "3 two")

	// The first one comes back, and stands by.
	p.start("one")
	p.publish(4)
	p.await("1 one", "2 one", "2 two", "3 two", "4 two")
	p.taken("one", 3, 4)
}

// A process begins a greater epoch than all before it, whatever brokers count: they forget a group that had no members
// for some days.
func TestEachLeaderBeginsAGreaterEpoch(t *testing.T) {
	p := newPair(t)
	p.began(40, "gone")
	p.start("one")
	p.publish(1)
	p.await("1 one")
	require.NoError(t, p.stops["one"]())
	p.publish(2)
	p.start("two")
	p.group.Lead("two")
	p.await("1 one", "1 two", "2 two")
	var epochs []int64
	for _, rec := range roletest.Records(t, p.topics, bus.Models) {
		by, tells := wire.OwnerOf(rec)
		require.True(t, tells)
		epochs = append(epochs, by.Generation)
	}
	require.Equal(t, []int64{41, 42}, slices.Compact(epochs))
}

// A process whose epoch another one has ended writes nothing more under it, though brokers still say that it leads: it
// stands by, and begins the next.
func TestAFencedLeaderBeginsAnotherEpoch(t *testing.T) {
	p := newPair(t)
	p.start("one")
	p.publish(1)
	p.await("1 one")
	p.began(7, "another")
	p.publish(2)
	p.await("1 one", "2 one")
	require.Eventually(t, func() bool {
		log := journal.Open(p.topics, journal.ForAll, "echo", "any", journal.Position{})
		require.NoError(t, log.Read(t.Context()))
		return log.Newest() == 8
	}, time.Minute, time.Millisecond)
}

// What who leads says on control.v1 is heard in the order in which it stands there, however many write at once, and not
// once more when it is written again.
func TestWhatALeaderSaysIsHeardOnce(t *testing.T) {
	p := newPair(t)
	p.start("one")
	p.publish(1)
	p.await("1 one")
	now, _ := p.fenced.Load("one")
	var writers errgroup.Group
	for i := range 20 {
		writers.Go(func() error {
			records, err := (&wire.Command{RequestID: strconv.Itoa(i), Phase: wire.PhaseSuppress}).Records()
			return errors.Join(err, now.(role.Bus).Write(t.Context(), bus.Control, records))
		})
	}
	require.NoError(t, writers.Wait())
	reader, said := wire.NewNoticeReader(), []ingest.Record(nil)
	hear := func(rec ingest.Record) (heard int) {
		n, err := reader.Read(rec)
		require.NoError(t, err)
		if n.Command != nil {
			said, heard = append(said, rec), 1
		}
		return heard
	}
	for _, rec := range roletest.Records(t, p.topics, bus.Control) {
		hear(rec)
	}
	require.Len(t, said, 20)
	for _, rec := range said {
		require.Zero(t, hear(rec))
	}
}

// A process that was killed before brokers knew how far it was comes back alone.
func TestWhoComesBackAloneDoesNotWaitForAnother(t *testing.T) {
	p := newPair(t)
	p.open = []bus.Topic{bus.Control} // who leads has read it to its end first
	p.barrier()
	p.start("one")
	p.publish(1)
	p.await("1 one")
	require.NoError(t, p.stops["one"]())
	p.group = roletest.NewGroup()
	p.start("one")
	p.publish(2)
	p.await("1 one", "2 one")
}

// A process that was killed before it published what it had taken publishes that when it comes back,
// though it stands by at first: nobody else has.
func TestWhoComesBackPublishesWhatItHadNot(t *testing.T) {
	p := newPair(t)
	p.open = []bus.Topic{bus.Control} // which it reads before it leads
	p.barrier()
	p.publish(1)
	p.logics["one"] = &echo{resume: 1, due: []wire.Received{{Message: slice(1), Next: 1}}}
	p.start("one")
	p.await("1 one")
}

// A process that comes to lead reads first what others have decided, and publishes what the last entry leads to alone.
func TestWhoTakesOverPublishesTheLastAgain(t *testing.T) {
	p := newPair(t)
	p.start("one")
	p.publish(1)
	p.await("1 one")
	p.publish(2)
	p.await("1 one", "2 one")
	require.NoError(t, p.stops["one"]())
	p.publish(3)
	p.group.Lead("two")
	p.start("two")
	p.await("1 one", "2 one", "2 two", "3 two")
}

// unreadBus are topics of which nothing is read until they are released, and which tell that it was asked where
// they end.
type unreadBus struct {
	role.Bus
	released chan struct{}
	asked    chan bus.Topic
}

func (b *unreadBus) EndOffsets(ctx context.Context, t bus.Topic) ([]int64, error) {
	ends, err := b.Bus.EndOffsets(ctx, t)
	b.asked <- t
	return ends, err
}

func (b *unreadBus) Follow(positions map[bus.TopicPartition]int64) (role.Tail, error) {
	tail, err := b.Bus.Follow(positions)
	return unreadTail{tail, b.released}, err
}

type unreadTail struct {
	role.Tail
	released chan struct{}
}

func (t unreadTail) NextOf(ctx context.Context, of map[bus.Topic]bool) (bus.Batch, error) {
	select {
	case <-t.released:
		return t.Tail.NextOf(ctx, of)
	case <-ctx.Done():
		return bus.Batch{}, ctx.Err()
	}
}

// A process is to lead, has not read yet what it reads before, and another one leads in between. Of what that one has
// published it publishes no more again than what the last entry leads to.
func TestWhoIsToLeadAgainReadsWhatWasPublishedInBetween(t *testing.T) {
	p := newPair(t)
	p.open = []bus.Topic{bus.Control}
	p.start("one")
	p.publish(1)
	p.await("1 one")
	unread := &unreadBus{p.topics, make(chan struct{}), make(chan bus.Topic, 1000)}
	p.writes = map[string]role.Bus{"two": unread}
	p.start("two")
	require.NoError(t, p.stops["one"]())
	p.group.Lead("two")
	require.Eventually(t, func() bool { return <-unread.asked == bus.Journal }, time.Minute, time.Microsecond,
		"where that ends which it reads before it leads")
	p.start("one")
	p.group.Lead("one")
	p.publish(2)
	p.await("1 one", "2 one")
	require.NoError(t, p.stops["one"]())
	p.group.Lead("two")
	close(unread.released)
	p.publish(3)
	p.await("1 one", "2 one", "2 two", "3 two")
}

// What a process reads before it leads it reads each time it stands by: what it heard before is forgotten then.
func TestWhoStandsByAnewReadsAnew(t *testing.T) {
	p := newPair(t)
	p.barrier()
	log := slog.New(slog.DiscardHandler)
	lead := role.NewLead("echo", "one", p.group.Member("one"), time.Now, log)
	go lead.Run(t.Context())
	require.Eventually(t, func() bool { return lead.Term() > 0 }, time.Minute, time.Millisecond)
	for range 2 {
		around := role.Around(p.topics, nil, log)
		around.Standing = &role.Standing{Lead: lead, Open: []bus.Topic{bus.Control}}
		e, err := newEchoing(t.Context(), new(echo), around.Standing, p.topics)
		require.NoError(t, err)
		f := role.Follow("echo", e, around)
		b, err := f.Open(t.Context())
		require.NoError(t, err)
		prepared, err := f.Prepared(t.Context())
		require.NoError(t, err)
		require.False(t, prepared)
		require.NoError(t, b.Begin(t.Context()))
		for range 2 { // of control.v1 and the journal
			batch, err := b.Tail.Next(t.Context())
			require.NoError(t, err)
			require.NoError(t, f.Arrived(t.Context(), batch, false))
		}
		prepared, err = f.Prepared(t.Context())
		require.NoError(t, err)
		require.True(t, prepared)
		require.NoError(t, errors.Join(b.Tail.Close(), f.Close()))
	}
}

// As long as something is due of what a leader has read, nobody is told that it has dealt with it.
func TestWhatIsDueLaterIsNotDealtWith(t *testing.T) {
	p := newPair(t)
	p.logics["one"] = &echo{waits: true}
	p.start("one")
	p.publish(1)
	p.await("1 one")
	source := bus.TopicPartition{Topic: bus.Slices}
	require.Never(t, func() bool { return p.group.Positions()[source] > 0 }, 50*time.Millisecond, time.Millisecond)
}
