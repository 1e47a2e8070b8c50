package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/bytecursor"
	"lethe/internal/floatbytes"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/snapshot/openrows"
)

// Kinds of keys in staging. Each is followed by the fields named here, all of
// fixed length but the last: timesteps and numbers are big-endian, so that keys
// of one kind ascend with them.
const (
	kindSubject      = 'b'           // subject, timestep, pseudonyms: what carries it
	kindFeatureCount = 'c'           // (nothing)
	kindLetter       = 'f'           // number: a letter not confirmed yet
	kindGone         = 'g'           // timestep: the revision that says that it is gone
	kindReplaced     = 'h'           // content hash: one that was corrected had it, and staging's files may still
	kindIndex        = 'i'           // pseudonym: timestep and content hash
	kindMark         = 'k'           // the owner's key
	kindLabel        = 'l'           // timestep, pseudonym: a label that no graph has
	kindOffset       = 'o'           // partition, topic
	kindPayment      = 'p'           // timestep, source, target: a payment that is in no graph
	kindCandidate    = 'q'           // pseudonym, width: a transaction while the width is not known
	kindRow          = openrows.Kind // timestep, pseudonym: a transaction of an open timestep, or one that waits
	kindSuppressed   = 's'           // suppression digest
	kindInfo         = 't'           // timestep
	kindRedacted     = 'z'           // suppression digest: columns
	kindControl      = 'u'           // timestep, partition: a control record, while the width is not known
	kindFormat       = 'v'           // (nothing)
	kindWatermark    = 'w'           // stream, partition
	kindCarries      = 'y'           // pseudonym, key of kind 'b': a subject of it, or of a payment of it
	kindRewriting    = 'x'           // timestep: its store is being rewritten; with a value: reopened
)

// Kinds of keys in the store of a closed timestep.
const (
	kindEdge     = 'e' // source, target
	kindAssigned = 'l' // pseudonym: label and shard
	kindMeta     = 'm' // (nothing)
	kindNode     = 'n' // pseudonym: a row
)

const (
	timestepBytes  = timestepkey.Bytes
	pseudonymBytes = len(lethe.Pseudonym{})
)

func timestepKey(kind byte, t lethe.Timestep, about ...lethe.Pseudonym) []byte {
	return appendPseudonyms(timestepkey.New([]byte{kind}, t), about)
}

// appendTimestepKey appends what timestepKey returns of one transaction.
func appendTimestepKey(dst []byte, kind byte, t lethe.Timestep, about lethe.Pseudonym) []byte {
	return append(binary.BigEndian.AppendUint64(append(dst, kind), uint64(t)), about[:]...)
}

func pseudonymKey(kind byte, about ...lethe.Pseudonym) []byte {
	return appendPseudonyms([]byte{kind}, about)
}

func appendPseudonyms(dst []byte, about []lethe.Pseudonym) []byte {
	for _, p := range about {
		dst = append(dst, p[:]...)
	}
	return dst
}

func timestepOf(key []byte) (lethe.Timestep, error) {
	t, _, err := timestepkey.Cut(string(key[:1]), key)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return t, nil
}

func letterKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindLetter}, number)
}

func controlKey(t lethe.Timestep, partition int) []byte {
	return binary.BigEndian.AppendUint32(timestepKey(kindControl, t), uint32(partition))
}

// widthBytes end the key of a candidate.
const widthBytes = 4

func candidateKey(p lethe.Pseudonym, width int) []byte {
	return binary.BigEndian.AppendUint32(pseudonymKey(kindCandidate, p), uint32(width))
}

func offsetKey(p TopicPartition) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kindOffset}, uint32(p.Partition)), p.Topic...)
}

func watermarkKey(s Stream, partition int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kindWatermark, byte(s)}, uint32(partition))
}

func suppressedKey(d lethe.Digest) []byte { return append([]byte{kindSuppressed}, d[:]...) }

// pseudonymsAfter returns the count pseudonyms that end a key.
func pseudonymsAfter(key []byte, prefix, count int) ([]lethe.Pseudonym, error) {
	if len(key) != prefix+count*pseudonymBytes {
		return nil, fmt.Errorf("%w: key of kind %q has %d bytes", ErrCorrupt, key[0], len(key))
	}
	out := make([]lethe.Pseudonym, count)
	for i := range out {
		copy(out[i][:], key[prefix+i*pseudonymBytes:])
	}
	return out, nil
}

// The versions of the stores of closed timesteps and of staging. Each store also
// repeats its version in a value of its own.
const graphVersion, stagingVersion = 1, 4

// graphFormat is what the keys and values of a closed timestep's store mean.
func graphFormat() swapstore.Format {
	return swapstore.Format{Kind: "snapshot-graph", Version: graphVersion}
}

// stagingFormat is what the keys and values of staging mean.
func stagingFormat() swapstore.Format {
	return swapstore.Format{Kind: "snapshot-staging", Version: stagingVersion}
}

// cursor takes a stored value apart. The first failure is kept; close returns it.
type cursor struct{ bytecursor.Cursor }

func cursorOver(stored []byte) cursor { return cursor{bytecursor.New(stored, binary.BigEndian)} }

// blob reads what appendBlob wrote, and copies it.
func (c *cursor) blob() []byte {
	if !c.Flag() {
		return nil
	}
	return append([]byte{}, c.Take(c.Count(1))...)
}

// close returns an error if a field was cut short or bytes are left over.
func (c *cursor) close(what string) error {
	if err := c.Close(); err != nil {
		return fmt.Errorf("%w: stored %s: %w", ErrCorrupt, what, err)
	}
	return nil
}

func appendString(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendBlob keeps nil and empty apart: a record without a key is not one with
// an empty key.
func appendBlob(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 0)
	}
	return append(binary.BigEndian.AppendUint32(append(dst, 1), uint32(len(b))), b...)
}

// row is a transaction as it is stored: all but its timestep, which its place
// says.
type row struct {
	id       lethe.TransactionID
	features []float32
}

func encodeRow(id lethe.TransactionID, features []float32) []byte {
	return appendRow(make([]byte, 0, rowBytes(id, features)), id, features)
}

// bytes is how long it is as it is stored.
func (r row) bytes() int { return rowBytes(r.id, r.features) }

// appendHead appends what a stored row begins with: all but its features.
func (r row) appendHead(dst []byte) []byte { return appendString(dst, string(r.id)) }

func (r row) encode() []byte { return encodeRow(r.id, r.features) }

func rowBytes(id lethe.TransactionID, features []float32) int {
	return 4 + len(id) + floatbytes.Size*len(features)
}

func appendRow(dst []byte, id lethe.TransactionID, features []float32) []byte {
	return floatbytes.Append(appendString(dst, string(id)), features)
}

func decodeRow(value []byte) (row, error) {
	c := cursorOver(value)
	r := row{id: lethe.TransactionID(c.Text())}
	r.features = c.Float32s(c.Left() / floatbytes.Size)
	return r, c.close("row")
}

// contentHash stands for a transaction's content once its row has moved to the
// timestep's store.
type contentHash [16]byte

// indexEntry says where a transaction is.
type indexEntry struct {
	timestep lethe.Timestep
	hash     contentHash
}

func (e indexEntry) encode() []byte { return e.appendTo(nil) }

func (e indexEntry) appendTo(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(e.timestep)), e.hash[:]...)
}

func decodeIndex(value []byte) (indexEntry, error) {
	c := cursorOver(value)
	e := indexEntry{timestep: lethe.Timestep(c.Uint64())}
	c.Bytes(e.hash[:])
	return e, c.close("index entry")
}
