package index

import (
	"encoding/binary"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/snapshot/stored"
)

// Kinds of keys.
const (
	// Kind is followed by a pseudonym: where that transaction is, and its content.
	Kind = 'i'
	// KindReplaced is followed by a content: a transaction that was corrected had it, and files of the store may still.
	KindReplaced = 'h'
)

// Content stands for a transaction's features once its row has moved to the
// timestep's store: a keyed hash of them.
type Content [16]byte

const contentPurpose = "transaction-content"

// ContentOf is the content of features.
func ContentOf(secret lethe.Secret, features []float32) Content {
	return NewHashing(secret).Content(floatbytes.View(nil, features))
}

// Hashing makes contents. It is for one goroutine.
type Hashing struct{ hasher lethe.Hasher }

// NewHashing returns one that hashes with a secret.
func NewHashing(secret lethe.Secret) Hashing { return Hashing{secret.Hasher(contentPurpose)} }

// Content is that of features, given as their bytes (floatbytes.View).
func (h Hashing) Content(features []byte) Content {
	digest := h.hasher.Hash(features)
	return Content(digest[:len(Content{})])
}

// Entry tells where a transaction is, and its content.
type Entry struct {
	Timestep lethe.Timestep
	Content  Content
}

const timestepBytes = 8

// EntryBytes is the length of an entry as it is stored.
const EntryBytes = timestepBytes + len(Content{})

// Encode returns the entry as it is stored.
func (e Entry) Encode() []byte { return e.AppendTo(nil) }

// AppendTo appends the entry as it is stored.
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

// Key is that of a transaction's entry.
func Key(p lethe.Pseudonym) []byte { return stored.Key(Kind, p) }

// ReplacedKey is for a content that a transaction had before it was corrected.
func ReplacedKey(c Content) []byte { return append([]byte{KindReplaced}, c[:]...) }

// Lookup returns where a transaction is, as get reads the store. Errors: stored.ErrCorrupt, those of get.
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
