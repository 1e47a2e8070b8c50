package bus_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// FuzzAssembler puts an arbitrary record between the chunks of a payload: what
// is returned has the checksum that its chunks name, and once the payload is
// written again, it comes out.
func FuzzAssembler(f *testing.F) {
	sum := sha256.Sum256([]byte("ab"))
	f.Add([]byte("k/1"), []byte("b"), "1", "2", hex.EncodeToString(sum[:]))
	f.Add([]byte("k/0"), []byte("x"), "0", "1", "00")
	f.Add([]byte("k/65535"), []byte("x"), "65535", "65536", "00")
	f.Add([]byte("k/01"), []byte("x"), "-1", "9999999999999999999", "")
	f.Add([]byte("!marker/0"), []byte("{}"), "", "", "")
	f.Fuzz(func(t *testing.T, key, value []byte, index, count, claimed string) {
		a := bus.NewAssembler()
		add := func(out ingest.Outgoing) (bus.Payload, bool) {
			payload, complete, err := a.Add(ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers})
			if err != nil {
				require.True(t, errors.Is(err, bus.ErrNotChunk) || errors.Is(err, bus.ErrChecksum), "%v", err)
			}
			return payload, complete
		}
		chunks := bus.Chunks("k", []byte("ab"), nil, 1)
		add(chunks[0])
		odd := ingest.Outgoing{Key: key, Value: value, Headers: []ingest.Header{
			{Key: "lethe.chunk.index", Value: []byte(index)},
			{Key: "lethe.chunk.count", Value: []byte(count)},
			{Key: "lethe.chunk.sha256", Value: []byte(claimed)},
		}}
		if payload, complete := add(odd); complete && !payload.Retracted {
			sum := sha256.Sum256(payload.Bytes)
			require.Equal(t, claimed, hex.EncodeToString(sum[:]))
		}
		add(chunks[0])
		payload, complete := add(chunks[1])
		require.True(t, complete)
		require.Equal(t, "ab", string(payload.Bytes))
	})
}
