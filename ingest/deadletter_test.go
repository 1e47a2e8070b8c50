package ingest_test

import (
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
			Reason: rapid.SampledFrom(ingest.Reasons()).
				Filter(func(r ingest.Reason) bool { return r != ingest.Suppressed }).Draw(rt, "reason"),
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

func TestDeadLetterOfAnErasedSubjectHoldsNothingOfIt(t *testing.T) {
	rec := ingest.Record{
		Topic: "t", Partition: 1, Offset: 7, Key: []byte("S3CR3T"), Value: []byte("S3CR3T"),
		Headers: []ingest.Header{{Key: "S3CR3T", Value: []byte("S3CR3T")}},
	}
	out := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.Suppressed}, "v")
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
