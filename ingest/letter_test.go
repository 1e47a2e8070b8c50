package ingest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
)

var replayedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// read is the letter of a record as the topic of dead letters hands it out.
func read(t *testing.T, out ingest.Outgoing) ingest.Letter {
	t.Helper()
	letter, err := ingest.ReadDeadLetter(ingest.Record{
		Topic: "t.dlq.v1", Partition: 2, Offset: 9, Key: out.Key, Value: out.Value, Headers: out.Headers, Time: out.Time,
	})
	require.NoError(t, err)
	return letter
}

func refusedRecord(key string) ingest.Record {
	return ingest.Record{
		Topic: "t.transactions.v1", Partition: 3, Offset: 1 << 40, Key: []byte(key), Value: []byte(`{}`),
		Headers: []ingest.Header{{Key: "trace", Value: []byte("7")}}, Time: replayedAt.Add(-time.Hour),
	}
}

// A dead letter tells which record it is of, and why it was refused.
func TestADeadLetterTellsWhichRecordItIsOf(t *testing.T) {
	for _, key := range []string{"a", "a>b"} {
		rec := refusedRecord(key)
		letter := read(t, ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.Late, Detail: "timestep 3"}, "test"))
		require.Equal(t, rec, letter.Record)
		require.Equal(t, ingest.Refusal{Reason: ingest.Late, Detail: "timestep 3"}, letter.Refusal)
		require.Equal(t, ingest.Replayable, letter.Disposition)
		_, err := ingest.ReadDeadLetter(rec)
		require.ErrorIs(t, err, ingest.ErrNotDeadLetter)
	}
}

// What is sent again is the record that was refused. What is said of its letter holds nothing of it, and goes once
// that is answered; the letter is deleted once the record is taken, under the key that it has.
func TestALetterIsMarkedUntilItsRecordIsAnswered(t *testing.T) {
	const place = "transactions.v1/3/1099511627776"
	for _, key := range []string{"a", "a>b"} {
		rec := refusedRecord(key)
		out := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.Late}, "test")
		letter := read(t, out)

		marked := ingest.Mark(place, replayedAt)
		require.Regexp(t, "^>!replayed![0-9a-f]{32}$", string(marked.Key))
		said := ingest.Record{Key: marked.Key, Value: marked.Value}
		mark, at, is := ingest.ReadMark(said)
		require.True(t, is)
		require.Equal(t, ingest.MarkOf(place), mark)
		require.Equal(t, replayedAt, at)
		said.Value = nil
		mark, at, is = ingest.ReadMark(said)
		require.True(t, is && at.IsZero() && mark == ingest.MarkOf(place))
		_, _, is = ingest.ReadMark(ingest.Record{Key: out.Key, Value: out.Value})
		require.False(t, is)

		again, err := letter.Again(place, replayedAt)
		require.NoError(t, err)
		require.Equal(t, rec.Key, again.Key)
		require.Equal(t, rec.Value, again.Value)
		sent := rec
		sent.Headers = again.Headers
		require.Equal(t, []ingest.Outgoing{{Key: out.Key}, {Key: marked.Key}}, ingest.Answered(sent, false))
		require.Equal(t, []ingest.Outgoing{{Key: marked.Key}}, ingest.Answered(sent, true))
		require.Empty(t, ingest.Answered(rec, false), "of a record that was not sent again no letter goes")

		// Refused once more, nothing is left of the replay.
		refused := read(t, ingest.DeadLetter(sent, &ingest.Refusal{Reason: ingest.Late}, "test"))
		require.Equal(t, rec.Headers, refused.Record.Headers)
	}
}

func TestWhatCannotBeSentAgain(t *testing.T) {
	rec := refusedRecord("a>b")
	keyless, valueless, large := rec, rec, rec
	keyless.Key, valueless.Value, large.Value = nil, nil, make([]byte, 3_000_000)
	late := &ingest.Refusal{Reason: ingest.Late}
	for why, out := range map[string]ingest.Outgoing{
		"nothing of it is kept": ingest.WithheldLetter(rec, &ingest.Refusal{Reason: ingest.BadRequestID}, "test"),
		"only a part of it":     ingest.DeadLetter(large, late, "test"),
		"taken by itself":       ingest.WaitingLetter(rec, &ingest.Refusal{Reason: ingest.UnknownEndpoint}, "test"),
		"it has no key":         ingest.DeadLetter(keyless, late, "test"),
		"it has no value":       ingest.DeadLetter(valueless, late, "test"),
	} {
		_, err := read(t, out).Again("transactions.v1/3/1", replayedAt)
		require.ErrorIs(t, err, ingest.ErrNotReplayable)
		require.ErrorContains(t, err, why)
	}
}
