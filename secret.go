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

// Pseudonym replaces a transaction id on disk and in slices: the first 16 bytes of HMAC-SHA-256
// under the deployment's secret.
type Pseudonym [16]byte

// String returns the pseudonym in hexadecimal.
func (p Pseudonym) String() string { return hex.EncodeToString(p[:]) }

// Compare orders pseudonyms by their bytes. Slices and snapshots list their
// nodes in this order, so that removing one node never reorders the others.
func (p Pseudonym) Compare(q Pseudonym) int { return bytes.Compare(p[:], q[:]) }

// SecretKeyBytes is the length of each of a secret's keys.
const SecretKeyBytes = 32

// Secret is the deployment's key. Without it a pseudonym or a ledger hash cannot be linked to an
// id. It prints as a placeholder.
//
// It consists of two keys. The first makes pseudonyms and authenticates messages between processes; it can be
// replaced, together with everything derived from it. The second is the deployment's first key, for values that
// outlive a replacement because the ids are no longer available: the hashes of the ledger, and the deployment's id. It
// is zero while both keys are the same.
type Secret [2 * SecretKeyBytes]byte

// NewSecret returns a secret of one key.
func NewSecret(key [SecretKeyBytes]byte) (s Secret) {
	copy(s[:], key[:])
	return s
}

// Key returns the key that makes pseudonyms.
func (s Secret) Key() [SecretKeyBytes]byte { return [SecretKeyBytes]byte(s[:SecretKeyBytes]) }

// Ledger returns the secret for the ledger's hashes: the deployment's first key, or s itself.
func (s Secret) Ledger() Secret {
	begun := [SecretKeyBytes]byte(s[SecretKeyBytes:])
	if begun == [SecretKeyBytes]byte{} {
		return s
	}
	return NewSecret(begun)
}

// Follow returns the secret with a new key for pseudonyms, and the ledger key of s.
func (s Secret) Follow(key [SecretKeyBytes]byte) Secret {
	next, begun := NewSecret(key), s.Ledger().Key()
	copy(next[SecretKeyBytes:], begun[:])
	return next
}

// String hides the key.
func (Secret) String() string { return "[redacted]" }

// GoString hides the key from %#v too.
func (Secret) GoString() string { return "[redacted]" }

// Hash returns HMAC-SHA-256 of the parts under a key derived for the purpose. Hashes that cannot
// be recomputed later use Ledger(). Hashes for different purposes cannot be linked without the
// secret. Parts are framed by their lengths, so ("ab", "c") and ("a", "bc") differ.
func (s Secret) Hash(purpose string, parts ...[]byte) Digest {
	return s.Hasher(purpose).Hash(parts...)
}

// Hasher computes hashes for one purpose, faster than Secret.Hash. Use it from one goroutine at a
// time.
type Hasher struct {
	mac hash.Hash
	// room is a buffer for the length of a part and for the hash, to avoid allocations.
	room *[4 + sha256.Size]byte
}

// Hasher returns a Hasher that gives the hashes of Secret.Hash for a purpose.
func (s Secret) Hasher(purpose string) Hasher {
	sub := hmac.New(sha256.New, s[:SecretKeyBytes])
	sub.Write([]byte(purpose))
	return Hasher{hmac.New(sha256.New, sub.Sum(nil)), new([4 + sha256.Size]byte)}
}

// Hash returns the hash that Secret.Hash describes.
func (h Hasher) Hash(parts ...[]byte) Digest {
	h.mac.Reset()
	for _, part := range parts {
		binary.LittleEndian.PutUint32(h.room[:], uint32(len(part)))
		h.mac.Write(h.room[:4])
		h.mac.Write(part)
	}
	return Digest(h.mac.Sum(h.room[4:4]))
}

// idHasher computes hashes of ids.
type idHasher struct {
	hasher Hasher
	// room is a buffer for the bytes of an id, to avoid allocations.
	room *[]byte
}

func newIDHasher(s Secret, purpose string) idHasher { return idHasher{s.Hasher(purpose), new([]byte)} }

func (h idHasher) hash(id TransactionID) Digest {
	*h.room = append((*h.room)[:0], id...)
	return h.hasher.Hash(*h.room)
}

// Pseudonymizer computes pseudonyms, faster than Secret.Pseudonym. Use it from one goroutine at a
// time.
type Pseudonymizer struct{ ids idHasher }

// Pseudonymizer returns a Pseudonymizer for the secret.
func (s Secret) Pseudonymizer() Pseudonymizer { return Pseudonymizer{newIDHasher(s, pseudonymPurpose)} }

// Pseudonym returns the pseudonym that Secret.Pseudonym returns.
func (p Pseudonymizer) Pseudonym(id TransactionID) Pseudonym {
	d := p.ids.hash(id)
	return Pseudonym(d[:16])
}

const pseudonymPurpose = "pseudonym"

// Pseudonym returns the id's pseudonym.
func (s Secret) Pseudonym(id TransactionID) Pseudonym {
	return s.Pseudonymizer().Pseudonym(id)
}

// SubjectPseudonym returns the pseudonym of a subject's key.
func (s Secret) SubjectPseudonym(subject string) Pseudonym {
	d := s.Hash("subject-pseudonym", []byte(subject))
	return Pseudonym(d[:16])
}

// HeldSubject returns the keyed hash of a subject in a hold, computed from its pseudonym, which
// is all that the graphs store. It cannot be linked to either without the secret.
func (s Secret) HeldSubject(p Pseudonym) Digest { return s.Hash("held-subject", p[:]) }

// Suppression returns the keyed hash under which an erased id is stored, so that late or replayed
// records of it can be dropped. It cannot be linked to the pseudonym without the secret.
func (s Secret) Suppression(id TransactionID) Digest { return s.Suppressor().Suppression(id) }

// Suppressor computes the hashes of Secret.Suppression faster. Use it from one goroutine at a time.
type Suppressor struct{ ids idHasher }

// Suppressor returns a Suppressor for the secret.
func (s Secret) Suppressor() Suppressor { return Suppressor{newIDHasher(s.Ledger(), "suppression")} }

// Suppression returns the hash that Secret.Suppression returns.
func (s Suppressor) Suppression(id TransactionID) Digest { return s.ids.hash(id) }

// DeploymentID identifies a deployment: the processes that share topics and secret. It is not
// secret and reveals nothing.
type DeploymentID [16]byte

// Deployment returns the id of the deployment with this secret and prefix of topics.
func (s Secret) Deployment(topicPrefix string) DeploymentID {
	d := s.Ledger().Hash("deployment", []byte(topicPrefix))
	return DeploymentID(d[:16])
}

// String returns the id in hexadecimal.
func (d DeploymentID) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether the id is unset.
func (d DeploymentID) IsZero() bool { return d == DeploymentID{} }

// MarshalText writes the id in hexadecimal, for JSON.
func (d DeploymentID) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText decodes the text of MarshalText, for JSON and flags.
func (d *DeploymentID) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) || len(text)%2 != 0 {
		return fmt.Errorf("deployment id has %d characters, want %d hexadecimal digits", len(text), 2*len(d))
	}
	if _, err := hex.Decode(d[:], text); err != nil {
		return errors.New("deployment id is not hexadecimal digits only")
	}
	return nil
}
