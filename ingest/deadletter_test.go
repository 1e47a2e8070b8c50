package ingest_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/ingest"
	"lethe/ingest/ingesttest"
)

func optionalBytes(rt *rapid.T, name string) []byte {
	if rapid.Bool().Draw(rt, "no "+name) {
		return nil
	}
	return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(rt, name)...)
}

func TestDeadLettersGiveTheRecordBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rec := ingest.Record{
			Topic:     "lethe.transactions.v1",
			Partition: rapid.IntRange(0, 99).Draw(rt, "partition"),
			Offset:    rapid.Int64Range(0, 1<<60).Draw(rt, "offset"),
			Key:       optionalBytes(rt, "key"),
			Value:     optionalBytes(rt, "value"),
		}
		if rapid.Bool().Draw(rt, "time") {
			rec.Time = time.UnixMilli(rapid.Int64Range(1, 4e12).Draw(rt, "at")).UTC()
		}
		if rapid.Bool().Draw(rt, "header") {
			rec.Headers = []ingest.Header{{Key: "trace", Value: []byte{0, 1}}}
		}
		refusal := ingest.Refusal{
			Reason: rapid.SampledFrom(ingest.Reasons()).Draw(rt, "reason"),
			Detail: "feature 3",
		}
		out := ingest.DeadLetter(rec, &refusal, "v1.2.3")
		require.Equal(rt, out, ingest.DeadLetter(rec, &refusal, "v1.2.3"), "redelivery gives the same record")
		require.NotNil(rt, out.Key, "a compacted topic takes no record without a key")
		require.NotNil(rt, out.Value, "a record without a value would be a tombstone")

		letter, err := ingesttest.ParseDeadLetter(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
		require.NoError(rt, err)
		require.Equal(rt, ingesttest.Letter{
			Record: rec, Refusal: refusal, Version: "v1.2.3", Disposition: refusal.Reason.Disposition(),
		}, letter)

		// A dead letter that is replayed and refused again tells of that.
		again := ingest.Refusal{Reason: ingest.Late}
		letter.Record.Headers = out.Headers
		before := len(out.Headers)
		out = ingest.DeadLetter(letter.Record, &again, "v2")
		require.Len(rt, out.Headers, before)
		letter, err = ingesttest.ParseDeadLetter(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
		require.NoError(rt, err)
		require.Equal(rt, again, letter.Refusal)
		require.Equal(rt, rec.Headers, letter.Record.Headers)
	})
}

func TestWithheldLetterHoldsNothingOfTheRecord(t *testing.T) {
	rec := ingest.Record{
		Topic: "t", Partition: 1, Offset: 7, Key: []byte("S3CR3T"), Value: []byte("S3CR3T"),
		Headers: []ingest.Header{{Key: "S3CR3T", Value: []byte("S3CR3T")}},
	}
	out := ingest.WithheldLetter(rec, &ingest.Refusal{Reason: ingest.BadRequestID}, "v")
	require.Equal(t, "t/1/7", string(out.Key))
	require.Empty(t, out.Value)
	for _, h := range out.Headers {
		require.NotContains(t, h.Key+string(h.Value), "S3CR3T")
	}
	letter, err := ingesttest.ParseDeadLetter(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
	require.NoError(t, err)
	require.Equal(t, ingest.Withheld, letter.Disposition)
	require.Nil(t, letter.Record.Key)
}

func TestParseDeadLetterTellsOthersApart(t *testing.T) {
	_, err := ingesttest.ParseDeadLetter(ingest.Record{Topic: "t", Offset: 4, Key: []byte("k"), Value: []byte("v")})
	require.ErrorIs(t, err, ingesttest.ErrNotDeadLetter)
	require.ErrorContains(t, err, "t/0@4")
}

func TestReasonsAreDistinctSnakeCase(t *testing.T) {
	seen := map[ingest.Reason]bool{}
	for _, r := range ingest.Reasons() {
		require.False(t, seen[r], r)
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, string(r))
		seen[r] = true
	}
	require.False(t, ingest.Reason("other").Known())
}

// A record that is larger than its topic of dead letters allows ended the
// process, and again at every start. A part of it is kept, with length and digest
// of the whole.
func TestDeadLetterOfALargeRecordKeepsAPart(t *testing.T) {
	// The cut must not leave half of an id or a subject, in which nobody would find the whole.
	const id, subject = "the-id,of:a{person}", "12 Main Street, Springfield"
	for name, head := range map[string]string{
		"object":  `{"id":"` + id + `","ids":["` + strings.Repeat(id+`","`, 400),
		"text":    strings.Repeat(subject+"\n", 400),
		"binary":  "\x00\x00\x00\x00\x01\x00" + strings.Repeat("\x22\x1b"+subject, 400),
		"broken":  `{'type': 'transaction',` + "\n" + `'subjects': [` + strings.Repeat(`'`+subject+`', `, 400),
		"escaped": `{"note":"a \" in it","ids":["` + strings.Repeat(`\u0074he-id","`, 400),
	} {
		value := []byte(head + strings.Repeat("x", 3<<20))
		rec := ingest.Record{
			Topic: "t", Partition: 1, Offset: 7, Key: []byte("k"), Value: value,
			Headers: []ingest.Header{{Key: "trace", Value: []byte{1}}},
		}
		out := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.TooLarge, Detail: "3 MB"}, "v")
		letter, err := ingesttest.ParseDeadLetter(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
		require.NoError(t, err)
		kept := string(letter.Record.Value)
		require.NotEmpty(t, kept, name)
		require.LessOrEqual(t, len(kept), 4096, name)
		require.True(t, strings.HasPrefix(head, kept), name)
		last := kept[len(kept)-1]
		require.Contains(t, ",\n\x1b", string(last), "%s is cut in a word: %q", name, kept[len(kept)-20:])
		sum, headers := sha256.Sum256(value), sha256.Sum256([]byte("trace\x01"))
		require.Equal(t, fmt.Sprintf("value %d %x,headers 6 %x", len(value), sum, headers), letter.Cut, name)
		require.Equal(t, "k", string(letter.Record.Key))
		require.Empty(t, letter.Record.Headers)
	}
}

// The headers that make a record a dead letter must be among those that are read one by one.
func TestDeadLetterOfManyHeadersKeepsNoneOfThem(t *testing.T) {
	rec := ingest.Record{Topic: "t", Key: []byte("k"), Value: []byte("v"), Headers: make([]ingest.Header, 10_001)}
	out := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.TooLarge}, "v")
	letter, err := ingesttest.ParseDeadLetter(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
	require.NoError(t, err)
	require.Empty(t, letter.Record.Headers)
	require.Equal(t, "v", string(letter.Record.Value))
	require.Equal(t, fmt.Sprintf("headers 0 %x", sha256.Sum256(nil)), letter.Cut)
}

func TestDeadLettersFitTheirTopic(t *testing.T) {
	const topicMax = 2 * 1_048_588 // as package bus sets it
	many := make([]ingest.Header, 300_000)
	for name, rec := range map[string]ingest.Record{
		"key":     {Topic: "t", Key: make([]byte, 3<<20), Value: []byte("v")},
		"value":   {Topic: "t", Key: []byte("k"), Value: make([]byte, 3<<20)},
		"headers": {Topic: "t", Key: []byte("k"), Value: []byte("v"), Headers: many},
		"header":  {Topic: "t", Key: []byte("k"), Headers: []ingest.Header{{Key: strings.Repeat("h", 3<<20)}}},
		"just":    {Topic: "t", Key: []byte("k"), Value: make([]byte, 1_999_999)},
	} {
		out := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.TooLarge}, "v")
		size := len(out.Key) + len(out.Value)
		for _, h := range out.Headers {
			size += 16 + len(h.Key) + len(h.Value)
		}
		require.Less(t, size, topicMax-1000, name)
		require.NotNil(t, out.Key, name)
	}
	// Half a text without an end could hold half an id: nothing of it is kept.
	endless := ingest.Record{Topic: "t", Key: []byte("k"), Value: bytes.Repeat([]byte("x "), 1<<20)}
	require.Empty(t, ingest.DeadLetter(endless, &ingest.Refusal{Reason: ingest.TooLarge}, "v").Value)
}

// A transaction and its label have one key, and each a dead letter of its own: that one is
// withdrawn leaves the other.
func TestLettersOfATransactionAndItsLabelDiffer(t *testing.T) {
	transaction := ingest.Record{Topic: "lethe.transactions.v1", Key: []byte("tx-1"), Value: []byte("x")}
	label := transaction
	label.Topic = "lethe.labels.v1"
	refusal := &ingest.Refusal{Reason: ingest.BadID}
	keys := make(map[string]bool)
	for _, rec := range []ingest.Record{transaction, label} {
		letter := ingest.WaitingLetter(rec, refusal, "1")
		require.Equal(t, letter.Key, ingest.WithdrawnLetter(rec).Key)
		keys[string(letter.Key)] = true
		read, err := ingesttest.ParseDeadLetter(ingest.Record{Key: letter.Key, Value: letter.Value, Headers: letter.Headers})
		require.NoError(t, err)
		require.Equal(t, rec.Key, read.Record.Key)
	}
	require.Len(t, keys, 2)
}

// A payment or label that is refused when it is read has another letter than one with the
// same key that waits, and both tell the record's own key.
func TestFinalAndWaitingLettersDiffer(t *testing.T) {
	refusal := &ingest.Refusal{Reason: ingest.Late}
	for topic, key := range map[string]string{"lethe.transactions.v1": "a>b", "lethe.labels.v1": "a"} {
		rec := ingest.Record{Topic: topic, Key: []byte(key), Value: []byte("x")}
		final, waiting := ingest.DeadLetter(rec, refusal, "1"), ingest.WaitingLetter(rec, refusal, "1")
		require.NotEqual(t, final.Key, waiting.Key)
		for _, out := range []ingest.Outgoing{final, waiting} {
			read, err := ingesttest.ParseDeadLetter(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
			require.NoError(t, err)
			require.Equal(t, rec.Key, read.Record.Key)
		}
	}
}

// A marker of the topic of dead letters has the key of one that a producer may write, and readers pass over what begins
// as it does: the letter of a control record that is refused has neither.
func TestNoLetterHasTheKeyOfAMarker(t *testing.T) {
	for _, topic := range []string{"lethe.transactions.v1", "lethe.labels.v1"} {
		for _, key := range [][]byte{ingest.MarkerKey(0), ingest.CloseKey(3, 1), ingest.SettleKey(3, 1), []byte("!")} {
			rec := ingest.Record{Topic: topic, Key: key, Value: []byte("x")}
			letter := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.KeyMismatch}, "1")
			require.NotEqual(t, byte('!'), letter.Key[0], "%s %s", topic, key)
			read, err := ingest.ReadDeadLetter(ingest.Record{Key: letter.Key, Value: letter.Value, Headers: letter.Headers})
			require.NoError(t, err)
			require.Equal(t, key, read.Record.Key)

			again, err := read.Again("place", time.Unix(1, 0))
			require.NoError(t, err)
			gone := ingest.Answered(ingest.Record{Topic: topic, Key: again.Key, Headers: again.Headers}, false)
			require.Contains(t, gone, ingest.Outgoing{Key: letter.Key})
		}
	}
}
