package lethe

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// Pseudonym stands for a transaction id wherever lethe keeps one on disk or in
// a slice: the first 16 bytes of HMAC-SHA-256 under the deployment's secret.
type Pseudonym [16]byte

// String returns the pseudonym in hexadecimal.
func (p Pseudonym) String() string { return hex.EncodeToString(p[:]) }

// Compare orders pseudonyms by their bytes. Slices and snapshots list their
// nodes in this order, so that removing one node never reorders the others.
func (p Pseudonym) Compare(q Pseudonym) int { return bytes.Compare(p[:], q[:]) }

// SecretKeyBytes is the length of each of a secret's keys.
const SecretKeyBytes = 32

// Secret is the deployment's key. Without it a pseudonym or a ledger hash
// cannot be linked to an id. It prints as a placeholder.
//
// It is two keys. The first makes pseudonyms, and the codes of what processes tell each other; it
// can be replaced, with everything that was made with it. The second is the one that the deployment
// was begun with: it makes what outlives that, because the ids are gone by then: the hashes of the
// ledger, and the deployment's id. It is zero while both are one.
type Secret [2 * SecretKeyBytes]byte

// NewSecret is a secret of one key.
func NewSecret(key [SecretKeyBytes]byte) (s Secret) {
	copy(s[:], key[:])
	return s
}

// Key is the key that makes pseudonyms.
func (s Secret) Key() [SecretKeyBytes]byte { return [SecretKeyBytes]byte(s[:SecretKeyBytes]) }

// Ledger is the secret by which the ledger's hashes are made: the one that the deployment was
// begun with, or s itself.
func (s Secret) Ledger() Secret {
	begun := [SecretKeyBytes]byte(s[SecretKeyBytes:])
	if begun == [SecretKeyBytes]byte{} {
		return s
	}
	return NewSecret(begun)
}

// Follow is the secret that makes pseudonyms with a fresh key, and goes on with the ledger of s.
func (s Secret) Follow(key [SecretKeyBytes]byte) Secret {
	next, begun := NewSecret(key), s.Ledger().Key()
	copy(next[SecretKeyBytes:], begun[:])
	return next
}

// String hides the key.
func (Secret) String() string { return "[redacted]" }

// GoString hides the key from %#v too.
func (Secret) GoString() string { return "[redacted]" }

// Hash returns HMAC-SHA-256 of the parts under a key derived for the purpose. What is kept where
// it cannot be made anew is hashed by Ledger().
// Hashes for different purposes cannot be linked without the secret. Parts are
// framed by their lengths, so ("ab", "c") and ("a", "bc") differ.
func (s Secret) Hash(purpose string, parts ...[]byte) Digest {
	return s.Hasher(purpose).Hash(parts...)
}

// Hasher makes hashes for one purpose, each in less time than Secret.Hash. It is for one
// goroutine at a time.
type Hasher struct {
	mac hash.Hash
	// room is for the length of a part and for the hash, so that no memory is taken for either.
	room *[4 + sha256.Size]byte
}

// Hasher returns a hasher whose Hash is that of the secret for a purpose.
func (s Secret) Hasher(purpose string) Hasher {
	sub := hmac.New(sha256.New, s[:SecretKeyBytes])
	sub.Write([]byte(purpose))
	return Hasher{hmac.New(sha256.New, sub.Sum(nil)), new([4 + sha256.Size]byte)}
}

// Hash is described with Secret.Hash.
func (h Hasher) Hash(parts ...[]byte) Digest {
	h.mac.Reset()
	for _, part := range parts {
		binary.LittleEndian.PutUint32(h.room[:], uint32(len(part)))
		h.mac.Write(h.room[:4])
		h.mac.Write(part)
	}
	return Digest(h.mac.Sum(h.room[4:4]))
}

// idHasher makes hashes of ids.
type idHasher struct {
	hasher Hasher
	// room is for the bytes of an id, so that no memory is taken for them.
	room *[]byte
}

func newIDHasher(s Secret, purpose string) idHasher { return idHasher{s.Hasher(purpose), new([]byte)} }

func (h idHasher) hash(id TransactionID) Digest {
	*h.room = append((*h.room)[:0], id...)
	return h.hasher.Hash(*h.room)
}

// Pseudonymizer makes pseudonyms, each in less time than Secret.Pseudonym. It is for one
// goroutine at a time.
type Pseudonymizer struct{ ids idHasher }

// Pseudonymizer returns one whose Pseudonym is that of the secret.
func (s Secret) Pseudonymizer() Pseudonymizer { return Pseudonymizer{newIDHasher(s, pseudonymPurpose)} }

// Pseudonym is described with Secret.Pseudonym.
func (p Pseudonymizer) Pseudonym(id TransactionID) Pseudonym {
	d := p.ids.hash(id)
	return Pseudonym(d[:16])
}

const pseudonymPurpose = "pseudonym"

// Pseudonym returns the id's stand-in on disk.
func (s Secret) Pseudonym(id TransactionID) Pseudonym {
	return s.Pseudonymizer().Pseudonym(id)
}

// SubjectPseudonym returns the stand-in on disk of a subject's key.
func (s Secret) SubjectPseudonym(subject string) Pseudonym {
	d := s.Hash("subject-pseudonym", []byte(subject))
	return Pseudonym(d[:16])
}

// HeldSubject is the keyed hash by which a hold knows a subject from its pseudonym, which is all
// that the graphs keep of it. It cannot be linked to either without the secret.
func (s Secret) HeldSubject(p Pseudonym) Digest { return s.Hash("held-subject", p[:]) }

// Suppression returns the keyed hash under which an erased id is remembered,
// so that a late or replayed record of it can be dropped. It is not linkable
// to the pseudonym without the secret.
func (s Secret) Suppression(id TransactionID) Digest { return s.Suppressor().Suppression(id) }

// Suppressor makes the hashes of Secret.Suppression, each in less time. It is for one goroutine at a time.
type Suppressor struct{ ids idHasher }

// Suppressor returns one whose Suppression is that of the secret.
func (s Secret) Suppressor() Suppressor { return Suppressor{newIDHasher(s.Ledger(), "suppression")} }

// Suppression is described with Secret.Suppression.
func (s Suppressor) Suppression(id TransactionID) Digest { return s.ids.hash(id) }

// DeploymentID names a deployment: the processes that share topics and secret. It is no
// secret, and tells nobody else anything.
type DeploymentID [16]byte

// Deployment returns the id of the deployment with this secret and prefix of topics.
func (s Secret) Deployment(topicPrefix string) DeploymentID {
	d := s.Ledger().Hash("deployment", []byte(topicPrefix))
	return DeploymentID(d[:16])
}

// String returns the id in hexadecimal.
func (d DeploymentID) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether no id was set.
func (d DeploymentID) IsZero() bool { return d == DeploymentID{} }

// MarshalText writes the id in hexadecimal, for JSON.
func (d DeploymentID) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote, for JSON and flags.
func (d *DeploymentID) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) || len(text)%2 != 0 {
		return fmt.Errorf("deployment id has %d characters, want %d hexadecimal digits", len(text), 2*len(d))
	}
	if _, err := hex.Decode(d[:], text); err != nil {
		return errors.New("deployment id is not hexadecimal digits only")
	}
	return nil
}
