package index

import (
	"encoding/binary"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/internal/timestepkey"
	"lethe/snapshot/stored"
)

// Kinds of keys.
const (
	// Kind is followed by a pseudonym; the value is the transaction's Entry.
	Kind = 'i'
	// KindReplaced is followed by a content that a transaction had before a correction; files of the store may still
	// contain the features.
	KindReplaced = 'h'
)

// Content is a keyed hash of a transaction's features. It represents them once the row has moved
// to the timestep's store.
type Content [16]byte

const contentPurpose = "transaction-content"

// ContentOf returns the content of features.
func ContentOf(secret lethe.Secret, features []float32) Content {
	return NewHashing(secret).Content(floatbytes.View(nil, features))
}

// Hashing computes contents. Use it from one goroutine at a time.
type Hashing struct{ hasher lethe.Hasher }

// NewHashing returns a Hashing that uses a secret.
func NewHashing(secret lethe.Secret) Hashing { return Hashing{secret.Hasher(contentPurpose)} }

// Content returns the content of features, given as bytes (floatbytes.View).
func (h Hashing) Content(features []byte) Content {
	digest := h.hasher.Hash(features)
	return Content(digest[:len(Content{})])
}

// Entry is the timestep and content of a transaction.
type Entry struct {
	Timestep lethe.Timestep
	Content  Content
}

const timestepBytes = timestepkey.Bytes

// EntryBytes is the encoded length of an entry.
const EntryBytes = timestepBytes + len(Content{})

// Encode returns the encoded entry.
func (e Entry) Encode() []byte { return e.AppendTo(nil) }

// AppendTo appends the encoded entry.
func (e Entry) AppendTo(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(e.Timestep)), e.Content[:]...)
}

// Decode reads a stored entry. Error: stored.ErrCorrupt.
func Decode(value []byte) (Entry, error) {
	c := stored.Over(value)
	e := Entry{Timestep: lethe.Timestep(c.Uint64())}
	c.Bytes(e.Content[:])
	return e, c.Done("index entry")
}

// Key is the key of a transaction's entry.
func Key(p lethe.Pseudonym) []byte { return stored.Key(Kind, p) }

// ReplacedKey is the key of a content that a transaction had before a correction.
func ReplacedKey(c Content) []byte { return append([]byte{KindReplaced}, c[:]...) }

// Lookup reads the entry of a transaction through get. Errors: stored.ErrCorrupt, those of get.
func Lookup(
	get func(key []byte) ([]byte, bool, error), p lethe.Pseudonym,
) (entry Entry, known bool, err error) {
	value, found, err := get(Key(p))
	if err != nil || !found {
		return Entry{}, false, err
	}
	entry, err = Decode(value)
	return entry, err == nil, err
}
