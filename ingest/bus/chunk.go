package bus

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"lethe/ingest"
)

// DefaultChunkBytes is the usual size of a chunk: large enough that framing does not matter, and
// small enough that one fits a produce request (Config.MaxBatchBytes). Any other size must be at
// most half of it: an Assembler distinguishes sets of chunks by the payload's checksum and their
// number, and payloads of an earlier version may be rewritten in chunks of the new size. At half
// the size, with three in a request, publishing takes as long.
const DefaultChunkBytes = 512 << 10

const (
	chunkIndex  = "lethe.chunk.index"
	chunkCount  = "lethe.chunk.count"
	chunkSHA256 = "lethe.chunk.sha256"
	// maxChunks bounds a payload, at the default size, to 32 GiB.
	maxChunks = 1 << 16
)

// Chunks splits a payload into records with the keys <key>/0, <key>/1, ... and adds to
// the given headers the chunk's index, their count and the payload's SHA-256. All chunks
// go to the partition of key, in order; an empty payload is one empty chunk. maxBytes is
// positive. The records share memory with the payload.
//
// When a payload replaces a longer one, the surplus chunks of the longer one stay on the
// topic: write RetractFrom for them too.
func Chunks(key string, payload []byte, headers []ingest.Header, maxBytes int) []ingest.Outgoing {
	return ChunksOf(key, payload, sha256.Sum256(payload), headers, maxBytes)
}

// ChunksOf is Chunks for a payload whose SHA-256 is known.
func ChunksOf(
	key string, payload []byte, sum [sha256.Size]byte, headers []ingest.Header, maxBytes int,
) []ingest.Outgoing {
	count := max((len(payload)+maxBytes-1)/maxBytes, 1)
	out := make([]ingest.Outgoing, count)
	if payload == nil {
		// Not nil even when empty: nil would be a tombstone.
		payload = []byte{}
	}
	for i := range out {
		from := i * maxBytes
		to := min(from+maxBytes, len(payload))
		own := make([]ingest.Header, 0, len(headers)+3)
		own = append(own, headers...)
		own = append(own,
			ingest.Header{Key: chunkIndex, Value: []byte(strconv.Itoa(i))},
			ingest.Header{Key: chunkCount, Value: []byte(strconv.Itoa(count))},
			ingest.Header{Key: chunkSHA256, Value: []byte(hex.EncodeToString(sum[:]))})
		out[i] = ingest.Outgoing{
			Key: chunkKey(key, i), HashKey: []byte(key), Headers: own,
			Value: payload[from:to:to],
		}
	}
	return out
}

// RetractFrom returns the tombstones of a payload's chunks first to end-1, the last one first.
func RetractFrom(key string, first, end int) []ingest.Outgoing {
	var out []ingest.Outgoing
	for i := end - 1; i >= first; i-- {
		out = append(out, ingest.Outgoing{Key: chunkKey(key, i), HashKey: []byte(key)})
	}
	return out
}

func chunkKey(key string, index int) []byte {
	return strconv.AppendInt([]byte(key+"/"), int64(index), 10)
}
