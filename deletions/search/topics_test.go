package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// wallClock is the clock of the machine.
type wallClock struct{ Clock }

func (wallClock) Now() time.Time { return time.Now() }

// memoryLog holds records in one file.
type memoryLog []ingest.Record

// compressedLog is one whose file does not hold the records as they are.
type compressedLog struct{ memoryLog }

func (l compressedLog) EachSegment(_ context.Context, _ bus.Topic, fn func(Segment) error) error {
	return fn(Segment{Data: []byte("not what it was"), Compressed: true, Records: l.each})
}

func (l memoryLog) EachSegment(_ context.Context, _ bus.Topic, fn func(Segment) error) error {
	var s Segment
	for i, rec := range l {
		framed := kmsg.Record{OffsetDelta: int32(i), Key: rec.Key, Value: rec.Value}
		framed.Length = int32(len(framed.AppendTo(nil)) - 1)
		s.Data = framed.AppendTo(s.Data)
	}
	s.Records = l.each
	return fn(s)
}

func (l memoryLog) each(fn func(ingest.Record) error) error {
	for _, rec := range l {
		if err := fn(rec); err != nil {
			return err
		}
	}
	return nil
}

func (l memoryLog) ReadEvery(_ context.Context, _ bus.Topic, fn func(ingest.Record) error, _ func(*bus.Gap)) error {
	return l.each(fn)
}
func (l memoryLog) ReadCopies(
	_ context.Context, _ bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	return nil, l.each(func(rec ingest.Record) error { return fn(bus.OneCopy, rec) })
}
func (l memoryLog) ReadNew(_ context.Context, _ bus.Topic, _ map[int]int64, fn func(ingest.Record) error) error {
	return l.each(fn)
}
func (memoryLog) Holds(context.Context, bus.TopicPartition, int64) (bool, error) { return false, nil }
func (memoryLog) RollMarkers(context.Context, ...bus.Topic) error                { return nil }
func (memoryLog) Partitions(context.Context, bus.Topic) (int, error)             { return 1, nil }
func (memoryLog) Write(context.Context, bus.Topic, []ingest.Outgoing) error      { return nil }

// In its files a topic is searched as thoroughly as record by record, wherever the cut
// between two chunks is.
func TestALogIsSearchedAsItsRecordsAre(t *testing.T) {
	secret := lethe.Secret{5}
	const id = "230007682"
	row := []float32{1, 2.5, -3, 4, 7, 0.125, 9}
	prints, err := scan.TransactionFingerprints(secret, id)
	require.NoError(t, err)
	rows, err := scan.RowFingerprints(secret, row)
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, append(prints, rows...))
	require.NoError(t, err)
	pseudonym := secret.Pseudonym(id)
	needles := [][]byte{[]byte(id), pseudonym[:], []byte("1,2.5,-3,4,7,0.125,9"), []byte("23000768"), nil}
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.SliceOfN(rapid.SampledFrom([]byte(" -,a1")), 0, 400).Draw(rt, "value")
		at := rapid.IntRange(0, len(value)).Draw(rt, "at")
		which := rapid.IntRange(0, len(needles)-1).Draw(rt, "needle")
		value = append(append(append([]byte{}, value[:at]...), needles[which]...), value[at:]...)
		var log memoryLog
		for i := 0; len(value) > 0 || i == 0; i++ {
			n := rapid.IntRange(min(1, len(value)), len(value)).Draw(rt, "chunk")
			log = append(log, ingest.Record{Key: fmt.Appendf(nil, "m/%d", i), Value: value[:n]})
			value = value[n:]
		}
		topic := rapid.SampledFrom([]bus.Topic{bus.Models, bus.Snapshots, bus.Predictions}).Draw(rt, "topic")
		search := func(files Log) *Findings {
			found := newFindings()
			s := Searcher{Bus: log, Log: files, Clock: wallClock{}}
			require.NoError(rt, s.begin(&Search{Scanner: scanner}).topic(t.Context(), topic, found))
			return found
		}
		sent, direct, inflated := search(nil), search(log), search(compressedLog{log})
		// A chunk that is an id is one, whatever the chunk before ends with.
		for i := range sent.By {
			require.True(rt, direct.By[i], "found by records and not by files")
		}
		require.Equal(rt, sent.By, inflated.By, "what is compressed is looked through as it was sent")
		require.Equal(rt, sent.Places[0].Records, direct.Places[0].Records)
		require.Equal(rt, sent.Places[0].Bytes, direct.Places[0].Bytes)
		if len(needles[which]) == 0 {
			require.True(rt, direct.Clean())
		}
	})
}

// What was looked at for the same fingerprints and held nothing is not decoded again.
// What held something, what was not looked at and what came later is.
func TestRecordsThatWereLookedAtAreNotLookedAtAgain(t *testing.T) {
	secret := lethe.Secret{5}
	prints, err := scan.TransactionFingerprints(secret, "caf\u00e9-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
	holding := []byte(`{"id":"caf\u00e9-1"}`)
	log := memoryLog{
		{Offset: 0, Key: []byte("a"), Value: []byte(`{"id":"other"}`)},
		{Offset: 1, Key: []byte("b"), Value: holding},
		{Offset: 2, Key: []byte("caf\u00e9-1")},
	}
	s := Searcher{Bus: log, Clock: wallClock{}}
	v := s.Run(t.Context(), &Search{Prints: prints, Scanner: scanner, Locates: true})
	require.NoError(t, v.Err)
	require.Equal(t, "b", string(v.Located.Sources.Tombstones[bus.Transactions][0].Key))
	l := v.Located.Looked
	require.True(t, l.Serves(prints))
	others, err := scan.TransactionFingerprints(secret, "others")
	require.NoError(t, err)
	require.False(t, l.Serves(append(others, prints...)))
	require.False(t, Looked{}.Serves(prints))

	again := func(rec ingest.Record) int {
		s.Bus = memoryLog{rec}
		u, f := s.begin(&Search{Scanner: scanner, Looked: l}), newFindings()
		require.NoError(t, u.topic(t.Context(), bus.Transactions, f))
		require.EqualValues(t, 1, f.Places[0].Records)
		return f.Places[0].Hits
	}
	// Whatever these say now: a log does not change.
	require.Zero(t, again(ingest.Record{Offset: 0, Key: []byte("a"), Value: holding}))
	require.NotZero(t, again(log[1]))
	require.NotZero(t, again(log[2]))
	require.NotZero(t, again(ingest.Record{Offset: 3, Key: []byte("a"), Value: holding}))
	require.NotZero(t, again(ingest.Record{Partition: 1, Key: []byte("a"), Value: holding}))
}
