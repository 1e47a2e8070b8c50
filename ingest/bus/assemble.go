package bus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lethe/ingest"
)

// ErrNotChunk marks a record that Chunks and RetractFrom do not write. The caller should
// report it and continue.
var ErrNotChunk = errors.New("not a chunk")

// ErrChecksum marks a payload whose chunks are all present but do not match its SHA-256.
// The payload is dropped; the caller must fetch or build it again.
var ErrChecksum = errors.New("payload does not match its checksum")

// Payload is a reassembled payload.
type Payload struct {
	Key string
	// Retracted means that the payload was deleted; Bytes is nil then.
	Retracted bool
	Bytes     []byte
	// Headers are those passed to Chunks.
	Headers []ingest.Header
}

// Assembler reassembles the payloads of one partition from its records, in order. Chunks of a newer payload with the
// same key replace those of an older one that is incomplete, because compaction may have removed parts of it. The
// Assembler copies the data that it stores. The zero value is not usable.
type Assembler struct {
	open map[string]*assembly
}

// assembly is an incomplete payload. Its parts are stored by index, so that a large count
// without chunks uses no memory.
type assembly struct {
	sum   string
	count int
	parts map[int][]byte
}

func (s *assembly) join() []byte {
	if s.count == 1 {
		return s.parts[0]
	}
	ordered := make([][]byte, s.count)
	for i := range ordered {
		ordered[i] = s.parts[i]
	}
	return bytes.Join(ordered, nil)
}

// NewAssembler returns an empty assembler.
func NewAssembler() *Assembler {
	return &Assembler{open: map[string]*assembly{}}
}

// Pending counts the incomplete payloads.
func (a *Assembler) Pending() int { return len(a.open) }

// Add processes the next record. It returns a payload when the record completes or
// retracts one. A payload that was written twice is returned twice. Control records are
// skipped. The error is ErrNotChunk or ErrChecksum.
func (a *Assembler) Add(rec ingest.Record) (Payload, bool, error) {
	if bytes.HasPrefix(rec.Key, []byte("!")) {
		return Payload{}, false, nil
	}
	key, index, ok := splitChunkKey(string(rec.Key))
	if !ok {
		return Payload{}, false, fmt.Errorf("%s/%d@%d: %w: the key does not end in an index",
			rec.Topic, rec.Partition, rec.Offset, ErrNotChunk)
	}
	if rec.Tombstone() {
		payload, retracted := a.retract(key, index)
		return payload, retracted, nil
	}
	c, err := parseChunk(rec)
	if err != nil || c.index != index {
		return Payload{}, false, fmt.Errorf("%s/%d@%d: %w: headers do not fit",
			rec.Topic, rec.Partition, rec.Offset, ErrNotChunk)
	}
	set := a.open[key]
	if set == nil || set.sum != c.sum || set.count != c.count {
		set = &assembly{sum: c.sum, count: c.count, parts: map[int][]byte{}}
		a.open[key] = set
	}
	set.parts[index] = append([]byte{}, rec.Value...)
	if len(set.parts) < c.count {
		return Payload{}, false, nil
	}
	delete(a.open, key)
	whole := set.join()
	if sum := sha256.Sum256(whole); hex.EncodeToString(sum[:]) != c.sum {
		return Payload{}, false, fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, ErrChecksum)
	}
	return Payload{Key: key, Bytes: whole, Headers: c.headers}, true, nil
}

func (a *Assembler) retract(key string, index int) (Payload, bool) {
	// A tombstone beyond a payload's last chunk cleans up after a longer payload; a
	// tombstone of one of its own chunks ends it.
	if set := a.open[key]; set != nil && index < set.count {
		delete(a.open, key)
	}
	if index > 0 {
		return Payload{}, false
	}
	return Payload{Key: key, Retracted: true}, true
}

func splitChunkKey(text string) (key string, index int, ok bool) {
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		return "", 0, false
	}
	index, err := strconv.Atoi(text[at+1:])
	return text[:at], index, err == nil && index >= 0 && index < maxChunks && strconv.Itoa(index) == text[at+1:]
}

type chunk struct {
	index, count int
	sum          string
	headers      []ingest.Header
}

func parseChunk(rec ingest.Record) (chunk, error) {
	c := chunk{index: -1}
	var problems []error
	for _, h := range rec.Headers {
		var err error
		switch h.Key {
		case chunkIndex:
			c.index, err = strconv.Atoi(string(h.Value))
		case chunkCount:
			c.count, err = strconv.Atoi(string(h.Value))
		case chunkSHA256:
			c.sum = string(h.Value)
		default:
			c.headers = append(c.headers, h)
		}
		problems = append(problems, err)
	}
	if c.index < 0 || c.count <= c.index || c.count > maxChunks || c.sum == "" {
		problems = append(problems, errors.New("no index, count or checksum"))
	}
	return c, errors.Join(problems...)
}
