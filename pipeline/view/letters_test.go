package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
)

// refused publishes the dead letter of a record and returns its key.
func (r *rig) refused(offset int64, reason ingest.Reason, id string) []byte {
	letter := ingest.DeadLetter(ingest.Record{
		Topic: "lethe.transactions.v1", Partition: 1, Offset: offset, Key: []byte(id),
		Value: []byte(`{"type":"transaction","id":"` + id + `","timestep":3}`),
	}, &ingest.Refusal{Reason: reason, Detail: "it cannot be"}, "test")
	r.write(bus.DeadLetters, letter)
	return letter.Key
}

// letters are those of all dead letters that are chosen.
func (r *rig) letters(q view.Letters) (out []string) {
	for {
		list, next, err := r.reader.Letters(q)
		require.NoError(r.t, err)
		for _, l := range list {
			out = append(out, fmt.Sprintf("%s %s", l.Place, l.Reason))
		}
		if next == nil {
			return out
		}
		q.After = next
	}
}

func TestDeadLettersAreListedWithoutTheirContent(t *testing.T) {
	r := newRig(t)
	first := r.refused(7, ingest.BadTimestep, "person-one")
	second := r.refused(5, ingest.BadID, "person-two")
	r.refused(300, ingest.BadTimestep, "person-three")
	r.write(bus.DeadLetters, ingest.Outgoing{Key: []byte("other"), Value: []byte("no dead letter")})
	r.write(bus.DeadLetters, ingest.Outgoing{Key: ingest.MarkerKey(0), Value: []byte("nor that")})
	const place = "transactions.v1/1/"
	for _, limit := range []int{1, 2, 9} {
		require.Equal(t, []string{place + "5 bad_id", place + "7 bad_timestep", place + "300 bad_timestep"},
			r.letters(view.Letters{Limit: limit}))
		require.Equal(t, []string{place + "7 bad_timestep", place + "300 bad_timestep"},
			r.letters(view.Letters{Reason: ingest.BadTimestep, Topic: bus.Transactions, Limit: limit}))
		require.Empty(t, r.letters(view.Letters{Topic: bus.Labels, Limit: limit}))
	}
	_, _, err := r.reader.Letters(view.Letters{After: []byte("x/elsewhere"), Limit: 1})
	require.ErrorIs(t, err, view.ErrCursor)
	letter, err := r.reader.Letter(bus.Transactions, 1, 7)
	require.NoError(t, err)
	require.Contains(t, letter.Form, `"timestep": 3`)
	require.Empty(t, letter.Refused)
	require.Empty(t, r.places("person-"), "nothing of a record is kept")

	// One that goes while the role reads, and one that goes while it does not: its deletion is
	// cleaned away.
	r.write(bus.DeadLetters, ingest.Outgoing{Key: first})
	require.Len(t, r.letters(view.Letters{Limit: 9}), 2)
	r.stop()
	require.NoError(t, r.topics.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{{Key: second}}))
	require.NoError(t, r.topics.Compact())
	r.start()
	r.settle()
	require.Equal(t, []string{place + "300 bad_timestep"}, r.letters(view.Letters{Limit: 9}))
}

// That the record of a letter was sent again is said beside it, and as long as that is not answered.
func TestWhatWasSentAgainIsToldUntilItIsAnswered(t *testing.T) {
	r := newRig(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	mark := ingest.Mark("transactions.v1/1/7", at)
	replayed := func() (times []time.Time) {
		list, _, err := r.reader.Letters(view.Letters{Limit: 9})
		require.NoError(t, err)
		for _, l := range list {
			one, err := r.reader.Letter(l.Topic, l.Partition, l.Offset)
			require.NoError(t, err)
			require.Equal(t, l, *one)
			if l.Replayed != nil {
				times = append(times, *l.Replayed)
			}
		}
		require.Len(t, list, 2)
		return times
	}
	r.write(bus.DeadLetters, mark) // it is read first, as from another partition
	r.refused(7, ingest.BadTimestep, "person-one")
	r.refused(5, ingest.BadID, "person-two")
	require.Equal(t, []time.Time{at}, replayed())
	r.stop()
	require.NoError(t, r.topics.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{{Key: mark.Key}}))
	require.NoError(t, r.topics.Compact())
	r.start()
	r.settle()
	require.Empty(t, replayed(), "it was answered while nobody read")
	r.write(bus.DeadLetters, mark)
	require.Equal(t, []time.Time{at}, replayed())
	r.write(bus.DeadLetters, ingest.Outgoing{Key: mark.Key})
	require.Empty(t, replayed())
}

func TestReceiptsAndTheLogAreKeptAsTheyAre(t *testing.T) {
	r := newRig(t)
	r.write(bus.Receipts, ingest.Outgoing{Key: []byte("gdpr-1"), Value: []byte(`{"payload":"x"}`)})
	for i, leaf := range []string{`{"a":1}`, `{"a":2}`, `{"a":3}`} {
		r.write(bus.Log, ingest.Outgoing{Key: fmt.Appendf(nil, "%016d", i), Value: []byte(leaf)})
	}
	r.write(bus.Log, ingest.Outgoing{Key: []byte("checkpoint"), Value: []byte("note")})
	got, err := r.reader.Receipt("gdpr-1")
	require.NoError(t, err)
	require.JSONEq(t, `{"payload":"x"}`, string(got))
	got, err = r.reader.Receipt("gdpr-2")
	require.NoError(t, err)
	require.Nil(t, got)
	note, err := r.reader.Checkpoint()
	require.NoError(t, err)
	require.Equal(t, "note", note)
	leaves, err := r.reader.Leaves(1, 9)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte(`{"a":2}`), []byte(`{"a":3}`)}, leaves)
	leaves, err = r.reader.Leaves(0, 1)
	require.NoError(t, err)
	require.Len(t, leaves, 1)
}
