package move_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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

var errCrash = errors.New("crash")

// dying writes until it has written so many records, the last call in part.
type dying struct {
	*roletest.Bus
	left *int
}

func (d dying) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	n := min(len(records), *d.left)
	if err := d.Bus.Write(ctx, t, records[:n]); err != nil {
		return err
	}
	if *d.left -= n; n < len(records) {
		return errCrash
	}
	return nil
}

// unproven has some offsets of erasure-status.v1 written by others.
type unproven struct {
	*roletest.Bus
	at map[int64]bool
}

func (u unproven) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return u.Bus.ReadAll(ctx, t, func(rec ingest.Record) error {
		if t == bus.ErasureStatus && u.at[rec.Offset] {
			rec.Unproven = "it carries no code"
		}
		return fn(rec)
	})
}

func settings(t *testing.T, role, seed string) ingest.Outgoing {
	t.Helper()
	rec, err := wire.Settings{Role: role, Values: map[string]string{"seed": seed}}.Record()
	require.NoError(t, err)
	return rec
}

// earlier are records as a version before wrote them, all to one topic: some replaced, some deleted,
// and between them what users read.
func earlier(t *testing.T) (records []ingest.Outgoing, control, users map[string]string) {
	t.Helper()
	header := []ingest.Header{{Key: "lethe.owner", Value: []byte("3 one")}}
	add := func(key, value string) {
		rec := ingest.Outgoing{Key: []byte(key), Headers: header}
		if value != "" {
			rec.Value = []byte(value)
		}
		records = append(records, rec)
	}
	add("!instance/view", "before")
	add("!struck/train/2", "struck")
	add("gdpr-1", `{"format":"lethe-erasure-status/4","state":"received"}`)
	add("order/gdpr-1", "command")
	add("order/gdpr-0", "command")
	add("!ledger/gdpr-1/0", "one")
	add("!ledger/gdpr-1/1", "two")
	add("!hold/case-7", "hold")
	add("!refused", "refused")
	add("order/gdpr-0", "")
	add("!instance/view", "now")
	add(string(ingest.MarkerKey(0)), "marker")
	graphs := settings(t, "graphs", "7")
	records = append(records, graphs)
	return records, map[string]string{
			"!instance/view": "now", "!struck/train/2": "struck", "order/gdpr-1": "command", "!ledger/gdpr-1/0": "one",
			"!ledger/gdpr-1/1": "two", "!settings/graphs": string(graphs.Value), "!moved": string(wire.Moved().Value),
		}, map[string]string{
			"gdpr-1": `{"format":"lethe-erasure-status/4","state":"received"}`, "!hold/case-7": "hold", "!refused": "refused",
			"!marker/0": "marker",
		}
}

// standing are the newest values of a topic.
func standing(t *testing.T, topics *roletest.Bus, topic bus.Topic) map[string]string {
	t.Helper()
	out := make(map[string]string)
	require.NoError(t, topics.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
		if out[string(rec.Key)] = string(rec.Value); rec.Tombstone() {
			delete(out, string(rec.Key))
		}
		return nil
	}))
	return out
}

// requireMoved: everything is where it belongs, and earlier versions are kept away.
func requireMoved(t *testing.T, topics *roletest.Bus, control, users map[string]string, name string) {
	t.Helper()
	guard, err := wire.Guard()
	require.NoError(t, err)
	want := maps.Clone(users)
	want[string(guard.Key)] = string(guard.Value)
	require.Equal(t, control, standing(t, topics, bus.Control), name)
	require.Equal(t, want, standing(t, topics, bus.ErasureStatus), name)
	require.NoError(t, topics.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
		if string(rec.Key) == "order/gdpr-1" && !rec.Tombstone() {
			require.Len(t, rec.Headers, 1, "who wrote it is still told")
		}
		return nil
	}))
}

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
