package move_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/move"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// Killed behind whatever record of the move, the next start ends it; what is read together until then
// is what stood there before.
func TestTheMoveEndsWhereverItWasKilled(t *testing.T) {
	t.Parallel()
	records, control, users := earlier(t)
	for after := 0; ; after++ {
		topics := roletest.NewBus(nil)
		require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, records))
		left := after
		moved, err := move.All(t.Context(), dying{topics, &left})
		name := fmt.Sprintf("killed after %d records", after)
		if err == nil {
			require.Equal(t, 6, moved)
			requireMoved(t, topics, control, users, name)
			require.Greater(t, after, 10, "there were points to be killed at")
			return
		}
		require.ErrorIs(t, err, errCrash)
		both := make(map[string]string)
		require.NoError(t, wire.ReadControl(t.Context(), topics, func(rec ingest.Record) error {
			if both[string(rec.Key)] = string(rec.Value); rec.Tombstone() {
				delete(both, string(rec.Key))
			}
			return nil
		}))
		both["!moved"] = control["!moved"]
		require.Equal(t, control, both, name)
		again := 1000
		_, err = move.All(t.Context(), dying{topics, &again})
		require.NoError(t, err)
		requireMoved(t, topics, control, users, name)
		ends, err := topics.EndOffsets(t.Context(), bus.ErasureStatus)
		require.NoError(t, err)
		moved, err = move.All(t.Context(), topics)
		require.NoError(t, err)
		require.Zero(t, moved)
		now, err := topics.EndOffsets(t.Context(), bus.ErasureStatus)
		require.NoError(t, err)
		require.Equal(t, ends, now, "what is moved is left alone")
	}
}

// Killed before earlier versions were kept away, one of them ran again: what it wrote and deleted counts,
// and what had been copied does not.
func TestWhatAnEarlierVersionDidAfterAnAttemptCounts(t *testing.T) {
	t.Parallel()
	records, control, users := earlier(t)
	topics := roletest.NewBus(nil)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, records))
	left := 5
	_, err := move.All(t.Context(), dying{topics, &left})
	require.ErrorIs(t, err, errCrash)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{
		{Key: []byte("order/gdpr-1")}, {Key: []byte("!struck/train/3"), Value: []byte("struck")},
	}))
	_, err = move.All(t.Context(), topics)
	require.NoError(t, err)
	delete(control, "order/gdpr-1")
	control["!struck/train/3"] = "struck"
	requireMoved(t, topics, control, users, "")
}

// racing has a process of an earlier version write something whenever something was written to a topic, for
// so many times: it has not read the guard yet.
type racing struct {
	*roletest.Bus
	with  map[bus.Topic][]ingest.Outgoing
	times *int
}

func (r racing) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	err := r.Bus.Write(ctx, t, records)
	if say := r.with[t]; err == nil && len(say) > 0 && *r.times > 0 {
		*r.times--
		err = r.Bus.Write(ctx, bus.ErasureStatus, say)
	}
	return err
}

// A process of an earlier version that still runs says and deletes something between the copy and the
// moment at which it reads the guard, and says its settings once more: nothing of that is lost, and it
// is kept away in the end.
func TestWhatAProcessSaysUntilItReadsTheGuardIsMovedToo(t *testing.T) {
	t.Parallel()
	for _, when := range []bus.Topic{bus.Control, bus.ErasureStatus} {
		for times := range 3 {
			records, control, users := earlier(t)
			topics := roletest.NewBus(nil)
			require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, records))
			if times > 0 {
				delete(control, "order/gdpr-1")
				control["!struck/train/3"], control["!instance/view"] = "struck", "later"
			}
			said := []ingest.Outgoing{
				{Key: []byte("order/gdpr-1")}, {Key: []byte("!struck/train/3"), Value: []byte("struck")},
				settings(t, "graphs", "7"), {Key: []byte("!instance/view"), Value: []byte("later")},
			}
			left := times
			_, err := move.All(t.Context(), racing{topics, map[bus.Topic][]ingest.Outgoing{when: said}, &left})
			require.NoError(t, err)
			require.Zero(t, left)
			requireMoved(t, topics, control, users, fmt.Sprintf("%d times after something on %s", times, when))
		}
	}
}

// The move gives its code to nothing that the deployment did not write, and where nothing is its own
// it writes nothing.
func TestForgedRecordsAreNotMoved(t *testing.T) {
	t.Parallel()
	records, control, users := earlier(t)
	forged := ingest.Outgoing{Key: []byte("!struck/score/1"), Value: []byte("struck")}
	topics := roletest.NewBus(nil)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, append(slices.Clone(records), forged)))
	_, err := move.All(t.Context(), unproven{topics, map[int64]bool{int64(len(records)): true}})
	require.NoError(t, err)
	users[string(forged.Key)] = string(forged.Value)
	requireMoved(t, topics, control, users, "it stays, and is told of by those who read it")

	topics = roletest.NewBus(nil)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{forged}))
	_, err = move.All(t.Context(), unproven{topics, map[int64]bool{0: true}})
	require.NoError(t, err)
	require.Empty(t, standing(t, topics, bus.Control), "another secret: whoever compares settings refuses")
}

// timed has a clock tick with every record.
type timed struct{ *roletest.Bus }

func (t timed) ReadAll(ctx context.Context, topic bus.Topic, fn func(ingest.Record) error) error {
	return t.Bus.ReadAll(ctx, topic, func(rec ingest.Record) error {
		for _, h := range rec.Headers {
			if h.Key == "at" {
				seconds, err := strconv.Atoi(string(h.Value))
				if err != nil {
					return err
				}
				rec.Time = time.Unix(int64(seconds), 0)
			}
		}
		return fn(rec)
	})
}

// A new deployment says at once that its topic is whole. What a version before it writes beside it, and
// must not, counts where it is newer, and nobody but a process that moves waits for that.
func TestANewDeploymentIsWhole(t *testing.T) {
	t.Parallel()
	topics := roletest.NewBus(nil)
	o := move.Options{Bus: timed{topics}, Every: time.Hour, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	require.NoError(t, move.Begin(t.Context(), o), "a process of whatever roles")
	require.Equal(t, map[string]string{"!moved": string(wire.Moved().Value)}, standing(t, topics, bus.Control))
	require.Empty(t, standing(t, topics, bus.ErasureStatus))

	at := func(key, value, second string) ingest.Outgoing {
		rec := ingest.Outgoing{Key: []byte(key), Headers: []ingest.Header{{Key: "at", Value: []byte(second)}}}
		if value != "" {
			rec.Value = []byte(value)
		}
		return rec
	}
	require.NoError(t, topics.Write(t.Context(), bus.Control, []ingest.Outgoing{
		at("!instance/view", "one", "10"), at("!served", "4", "30"), at("order/gdpr-1", "", "30"),
	}))
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{
		at("!instance/view", "two", "20"), at("!served", "3", "20"), at("order/gdpr-1", "command", "20"),
		at("!instance/train", "before it was whole", "-1"),
	}))
	require.NoError(t, move.Begin(t.Context(), o), "it need not wait for what comes later")
	require.Len(t, standing(t, topics, bus.ErasureStatus), 4)
	o.Moves = true
	require.NoError(t, move.Begin(t.Context(), o))
	require.Equal(t, map[string]string{"!moved": string(wire.Moved().Value), "!instance/view": "two", "!served": "4"},
		standing(t, topics, bus.Control))
	guard, err := wire.Guard()
	require.NoError(t, err)
	require.Equal(t, map[string]string{string(guard.Key): string(guard.Value)}, standing(t, topics, bus.ErasureStatus))
}

// Of processes that start together one moves, one after the other looks, and those of other roles wait.
func TestOneMovesAndOthersWait(t *testing.T) {
	t.Parallel()
	records, control, users := earlier(t)
	topics, group := roletest.NewBus(nil), roletest.NewGroup()
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, records))
	o := move.Options{Bus: topics, Every: time.Millisecond, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	waits := make(chan error, 1)
	go func() { waits <- move.Begin(t.Context(), o) }()
	early, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, move.Begin(early, o), context.DeadlineExceeded, "nobody has moved yet")
	first, second := o, o
	first.Moves, first.Instance, first.Sharer = true, "1", group.Member("1")
	second.Moves, second.Instance, second.Sharer = true, "2", group.Member("2")
	waiting := make(chan error, 1)
	standby, leave := context.WithCancel(t.Context())
	go func() { waiting <- move.Begin(standby, second) }()
	require.Equal(t, 0, len(standing(t, topics, bus.Control)), "the second does not lead")
	require.NoError(t, move.Begin(t.Context(), first))
	requireMoved(t, topics, control, users, "")
	require.NoError(t, <-waits)
	group.Lead("2") // the first has left
	require.NoError(t, <-waiting)
	leave()
	requireMoved(t, topics, control, users, "")
}
