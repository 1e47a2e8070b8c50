package bus_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// log is a compacted partition: an ordered list of records of which the newest
// of each key must stay.
type log []ingest.Record

func (l *log) write(records []ingest.Outgoing) {
	for _, out := range records {
		*l = append(*l, ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers, Offset: int64(len(*l))})
	}
}

// compact does what a broker does to the records before a random offset: of
// each key the newest stays, and tombstones may go.
func (l log) compact(rt *rapid.T) log {
	cut := rapid.IntRange(0, len(l)).Draw(rt, "cut")
	newest := map[string]int{}
	for i, rec := range l[:cut] {
		newest[string(rec.Key)] = i
	}
	tombstones := rapid.Bool().Draw(rt, "tombstones stay")
	var out log
	for i, rec := range l {
		if i >= cut || newest[string(rec.Key)] == i && (!rec.Tombstone() || tombstones) {
			out = append(out, rec)
		}
	}
	return out
}

// extent is one more than the highest index of the chunks of a key that are in the log.
func (l log) extent(key string) (n int) {
	live := map[int]bool{}
	for _, rec := range l {
		if text, of := strings.CutPrefix(string(rec.Key), key+"/"); of {
			index, _ := strconv.Atoi(text)
			live[index] = !rec.Tombstone()
		}
	}
	for index, is := range live {
		if is {
			n = max(n, index+1)
		}
	}
	return n
}

// assemble returns the payloads that are left after reading the whole log.
func assemble(t require.TestingT, l log) map[string]string {
	found := map[string]string{}
	a := bus.NewAssembler()
	for _, rec := range l {
		payload, ok, err := a.Add(rec)
		require.NoError(t, err)
		switch {
		case ok && payload.Retracted:
			delete(found, payload.Key)
		case ok:
			found[payload.Key] = string(payload.Bytes)
		}
	}
	return found
}

// Whatever compaction has removed, a reader from the start finds the newest
// payload of each key and nothing else.
func TestNewestPayloadsSurviveCompaction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l log
		want := map[string]string{}
		for range rapid.IntRange(1, 12).Draw(rt, "writes") {
			key := rapid.SampledFrom([]string{"3/1", "3/2", "x"}).Draw(rt, "key")
			if rapid.IntRange(0, 3).Draw(rt, "retract") == 0 {
				l.write(bus.RetractFrom(key, 0, l.extent(key)))
				delete(want, key)
				continue
			}
			payload := rapid.StringN(0, 12, 24)
			size := rapid.IntRange(1, 8).Draw(rt, "chunk")
			if rapid.IntRange(0, 3).Draw(rt, "interrupted") == 0 {
				// A writer died half way, and the next one had something else
				// or the same to write.
				lost := bus.Chunks(key, []byte(payload.Draw(rt, "lost")), nil, size)
				l.write(lost[:rapid.IntRange(0, len(lost)-1).Draw(rt, "written")])
			}
			want[key] = payload.Draw(rt, "payload")
			chunks := bus.Chunks(key, []byte(want[key]), nil, size)
			l.write(chunks)
			l.write(bus.RetractFrom(key, len(chunks), l.extent(key)))
		}
		require.Equal(rt, want, assemble(rt, l.compact(rt)))
	})
}

func TestChunksShareAPartitionAndFitMessages(t *testing.T) {
	_, c := open(t, nil)
	payloads := map[string][]byte{}
	for i := range 8 {
		key := fmt.Sprintf("%d/7", i)
		payloads[key] = bytes.Repeat([]byte{byte(i), 1, 2}, 400_000+i)
		headers := []ingest.Header{{Key: "kind", Value: []byte(key)}}
		require.NoError(t, c.Write(t.Context(), bus.Models, bus.Chunks(key, payloads[key], headers, bus.DefaultChunkBytes)))
	}
	assemblers := map[int]*bus.Assembler{}
	require.NoError(t, c.RollMarkers(t.Context(), bus.Models))
	require.NoError(t, c.ReadAll(t.Context(), bus.Models, func(rec ingest.Record) error {
		if assemblers[rec.Partition] == nil {
			assemblers[rec.Partition] = bus.NewAssembler()
		}
		payload, ok, err := assemblers[rec.Partition].Add(rec)
		if ok {
			require.Equal(t, payloads[payload.Key], payload.Bytes)
			require.Equal(t, []ingest.Header{{Key: "kind", Value: []byte(payload.Key)}}, payload.Headers)
			delete(payloads, payload.Key)
		}
		return err
	}))
	require.Empty(t, payloads)
}

func TestAssemblerRefusesWhatChunksDoesNotWrite(t *testing.T) {
	good := bus.Chunks("k", []byte("payload"), nil, 4)
	record := func(out ingest.Outgoing) ingest.Record {
		return ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers}
	}
	for name, rec := range map[string]ingest.Record{
		"no index":      {Key: []byte("k"), Value: []byte("x")},
		"no headers":    {Key: []byte("k/0"), Value: []byte("x")},
		"other index":   {Key: []byte("k/1"), Value: good[0].Value, Headers: good[0].Headers},
		"padded index":  {Key: []byte("k/00"), Value: good[0].Value, Headers: good[0].Headers},
		"negative":      {Key: []byte("k/-1"), Value: good[0].Value, Headers: good[0].Headers},
		"no key":        {Value: []byte("x")},
		"beyond limits": {Key: []byte("k/70000")},
	} {
		_, ok, err := bus.NewAssembler().Add(rec)
		require.ErrorIs(t, err, bus.ErrNotChunk, name)
		require.False(t, ok)
	}
	a := bus.NewAssembler()
	_, _, err := a.Add(record(good[0]))
	require.NoError(t, err)
	bad := record(good[1])
	bad.Value = []byte("axx")
	_, ok, err := a.Add(bad)
	require.ErrorIs(t, err, bus.ErrChecksum)
	require.False(t, ok)
	require.Zero(t, a.Pending())
	_, ok, err = a.Add(ingest.Record{Key: []byte("!marker/0"), Value: []byte("{}")})
	require.NoError(t, err)
	require.False(t, ok)
}
