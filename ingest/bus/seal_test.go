package bus_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Records of internal topics count if a process with the key wrote them: under another key,
// without a code, changed, moved to another topic or made a tombstone they do not.
func TestRecordsWithoutTheCodeAreNamed(t *testing.T) {
	b, own := open(t, nil)
	bus.NewSeal([32]byte{1}, nil).On(own)
	stranger, plain := client(t, b, nil), client(t, b, nil)
	bus.NewSeal([32]byte{2}, nil).On(stranger)
	header := []ingest.Header{{Key: "lethe.revision", Value: []byte("1")}}
	record := ingest.Outgoing{Key: []byte("slice/0/1/0"), Value: []byte("x"), Headers: header}
	require.NoError(t, own.Write(t.Context(), bus.Slices, []ingest.Outgoing{record}))
	written := recordsOf(t, plain, bus.Slices)[0]
	require.Len(t, written.Headers, 2, "whoever has no key sees the code")
	require.Empty(t, written.Unauthenticated, "and says nothing of it")
	again := func(change func(*ingest.Outgoing)) ingest.Outgoing {
		out := ingest.Outgoing{Key: written.Key, Value: written.Value, Headers: bytesOf(written.Headers)}
		change(&out)
		return out
	}
	(*bus.Seal)(nil).On(own)
	for topic, records := range map[bus.Topic][]ingest.Outgoing{
		bus.Slices: {
			again(func(o *ingest.Outgoing) { o.Value = []byte("y") }),
			again(func(o *ingest.Outgoing) { o.Value = nil }),
			again(func(o *ingest.Outgoing) { o.Value = []byte{} }),
			again(func(o *ingest.Outgoing) { o.Key = []byte("slice/0/2/0") }),
			again(func(o *ingest.Outgoing) { o.Headers[0].Value = []byte("2") }),
			again(func(o *ingest.Outgoing) { o.Headers = o.Headers[1:] }),
			again(func(o *ingest.Outgoing) { o.Headers = append(o.Headers, header...) }),
			record,
		},
		bus.Models: {again(func(*ingest.Outgoing) {})},
	} {
		require.NoError(t, plain.Write(t.Context(), topic, records))
	}
	require.NoError(t, stranger.Write(t.Context(), bus.Slices, []ingest.Outgoing{record}))
	bus.NewSeal([32]byte{1}, nil).On(own)
	var genuine, refused int
	count := func(rec ingest.Record) error {
		if rec.Unauthenticated == "" {
			genuine++
			require.Equal(t, header, rec.Headers)
		} else {
			refused++
		}
		return nil
	}
	require.NoError(t, own.ReadAll(t.Context(), bus.Slices, count))
	require.NoError(t, own.ReadAll(t.Context(), bus.Models, count))
	require.Equal(t, []int{1, 10}, []int{genuine, refused})
}

func bytesOf(headers []ingest.Header) (out []ingest.Header) {
	for _, h := range headers {
		out = append(out, ingest.Header{Key: h.Key, Value: bytes.Clone(h.Value)})
	}
	return out
}

// A log that a version without codes began is taken up to where it ended then.
func TestRecordsOfBeforeNeedNoCode(t *testing.T) {
	b, own := open(t, nil)
	plain := client(t, b, nil)
	for i := range 3 {
		require.NoError(t, plain.Write(t.Context(), bus.Snapshots, []ingest.Outgoing{{Key: fmt.Append(nil, i)}}))
	}
	bus.NewSeal([32]byte{1}, map[bus.TopicPartition]int64{{Topic: bus.Snapshots}: 2}).On(own)
	var unproven []bool
	for _, rec := range recordsOf(t, own, bus.Snapshots) {
		unproven = append(unproven, rec.Unauthenticated != "")
	}
	require.Equal(t, []bool{false, false, true}, unproven)
}

// BenchmarkChunks cuts 8 MiB into chunks, as a slice or model is before it is sent, and makes
// their codes.
func BenchmarkChunks(b *testing.B) {
	payload := bytes.Repeat([]byte("01234567"), 1<<20)
	seal := bus.NewSeal([32]byte{1}, nil)
	for _, sealed := range []bool{false, true} {
		b.Run(fmt.Sprintf("sealed=%v", sealed), func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				for _, rec := range bus.Chunks("slice/0/1", payload, nil, bus.DefaultChunkBytes) {
					if sealed {
						seal.Header(bus.Slices, rec)
					}
				}
			}
		})
	}
}
