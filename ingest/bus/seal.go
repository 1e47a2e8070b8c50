package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	"lethe/ingest"
)

// macHeader carries the code of a record of lethe's own topics. It is the last header.
const macHeader = ingest.CodeHeader

// Reasons why a record is not accepted as written by a process of the deployment
// (ingest.Record.Unauthenticated).
const (
	withoutCode = "it carries no code"
	wrongCode   = "its code was not made with this secret"
)

// Internal returns the topics by which the roles communicate, in a fixed order.
func Internal() []Topic { return []Topic{Snapshots, Slices, Models, Control, Journal, ErasureStatus} }

// Results returns the topics that the roles publish for other programs, in a fixed order.
func Results() []Topic { return []Topic{Predictions, Reasons, Receipts, Log, DeadLetters} }

// Sealed returns the topics whose records carry a code: all topics that only lethe
// writes.
func Sealed() []Topic { return slices.Concat(Internal(), Results()) }

func isSealed(t Topic) bool { return t != Transactions && t != Labels && t != Erasures }

// Seal makes and checks the codes of records of Sealed topics: HMAC-SHA-256 over the topic's name without prefix, key,
// value and headers. It does not change the content. A code proves the writer of a record, not the time: anyone with
// write access can republish an old record.
type Seal struct {
	key    []byte
	before map[TopicPartition]int64
}

// NewSeal returns the seal with a key that only the deployment's processes have. Records
// before the given offsets count by their place: they carry codes under the secret before a rotation.
func NewSeal(key [sha256.Size]byte, before map[TopicPartition]int64) *Seal {
	return &Seal{key[:], maps.Clone(before)}
}

// Header returns the code of a record for a topic, to be its last header.
func (s *Seal) Header(t Topic, rec ingest.Outgoing) ingest.Header {
	return ingest.Header{Key: macHeader, Value: s.code(t, rec.Key, rec.Value, rec.Headers)}
}

// code writes the length before every part, so that no two records have the same bytes.
func (s *Seal) code(t Topic, key, value []byte, headers []ingest.Header) []byte {
	mac := hmac.New(sha256.New, s.key)
	frame(mac, []byte(t))
	frame(mac, key)
	for _, h := range headers {
		frame(mac, []byte(h.Key))
		frame(mac, h.Value)
	}
	// A tombstone has no value, which is not an empty one.
	var last [9]byte
	binary.LittleEndian.PutUint64(last[:], uint64(len(headers)))
	if value != nil {
		last[8] = 1
	}
	mac.Write(last[:])
	mac.Write(value)
	return mac.Sum(nil)
}

func frame(mac hash.Hash, part []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
	mac.Write(n[:])
	mac.Write(part)
}

// sealed returns the record with its code, as it is written to a topic.
func (s *Seal) sealed(t Topic, rec ingest.Outgoing) ingest.Outgoing {
	if s != nil && isSealed(t) {
		rec.Headers = append(slices.Clip(rec.Headers), s.Header(t, rec))
	}
	return rec
}

// examine removes the codes from the records of a partition and marks the records without
// a valid one.
func (s *Seal) examine(tp TopicPartition, records []ingest.Record) {
	if s == nil || !isSealed(tp.Topic) {
		return
	}
	for i := range records {
		rec := &records[i]
		last := len(rec.Headers) - 1
		coded := last >= 0 && rec.Headers[last].Key == macHeader
		switch {
		case rec.Offset < s.before[tp]:
		case !coded:
			rec.Unauthenticated = withoutCode
			continue
		case !hmac.Equal(rec.Headers[last].Value, s.code(tp.Topic, rec.Key, rec.Value, rec.Headers[:last])):
			rec.Unauthenticated = wrongCode
			continue
		}
		if coded {
			rec.Headers = rec.Headers[:last:last]
		}
	}
}

// On makes clients add a code to records that they write to Sealed topics, and check the
// codes of those that they read (ingest.Record.Unauthenticated). Tails that are already open do
// not. With a nil seal clients do neither.
func (s *Seal) On(clients ...*Client) {
	for _, c := range clients {
		c.seal.Store(s)
	}
}
