package scan

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"lethe"
)

// Kind names the form of a record's bytes that a fingerprint stands for. It
// also decides how the fingerprint is matched.
type Kind string

// The kinds. See IDFingerprints for which forms an id has.
const (
	// KindID is a raw id of at least 6 bytes, matched where it stands alone.
	KindID Kind = "id"
	// KindIDJSON is such an id as JSON escapes it, where that differs.
	KindIDJSON Kind = "id_json"
	// KindIDQuoted is an id of 4 or 5 bytes in quotes.
	KindIDQuoted Kind = "id_quoted"
	// KindIDField is an id of 1 to 3 bytes, or a word, with a JSON field's name before it.
	KindIDField Kind = "id_field"
	// KindIDFramed is an id of 3 to 5 bytes after its length, as canonical
	// bytes hold it.
	KindIDFramed Kind = "id_framed"
	// KindIDKey is an id of fewer than 6 bytes, or a word, as the whole of a record's key
	// or one end of a payment's. It is matched by MatchKey only.
	KindIDKey Kind = "id_key"
	// KindPseudonym is the last 12 bytes of a pseudonym: a sorted table may
	// leave out the first bytes of a key that it shares with the one before.
	KindPseudonym Kind = "pseudonym"
	// KindPseudonymHex is the same in hexadecimal.
	KindPseudonymHex Kind = "pseudonym_hex"
	// KindPayment is the key of a payment, its two ids joined by '>', of at least 6 bytes,
	// matched where it stands alone.
	KindPayment Kind = "payment"
	// KindPaymentKey is the same as the whole of a record's key or of a string in JSON,
	// and a payment as the source and target of one JSON object. Bytes are not searched
	// for it.
	KindPaymentKey Kind = "payment_key"
	// KindPaymentText is a payment's source and target as lethe writes them into JSON.
	KindPaymentText Kind = "payment_text"
	// KindPaymentFramed is both ids, each after its length, as staging holds them.
	KindPaymentFramed Kind = "payment_framed"
	// KindPaymentPseudonyms is the key under which a store holds a payment: it ends with
	// the pseudonyms of both ends.
	KindPaymentPseudonyms Kind = "payment_pseudonyms"
	// KindSubject is the key of a subject among the subjects of a record of a timestep up to
	// the fingerprint's Until. Bytes are not searched for it.
	KindSubject Kind = "subject"
	// KindSubjectKey is the same key, of at least 6 bytes, matched where it stands alone in
	// files of lethe's own: topics may hold it in records of later timesteps.
	KindSubjectKey Kind = "subject_key"
	// KindSubjectIndex is the key under which a store holds that a subject is carried.
	KindSubjectIndex Kind = "subject_index"
	// KindFeatures is a feature row as little-endian float32.
	KindFeatures Kind = "features"
	// KindFeaturesText is a feature row as lethe writes it into JSON.
	KindFeaturesText Kind = "features_text"
	// KindFeaturesOf is features of a transaction, told by its id and their columns: an
	// object of JSON with that id, or a row of a graph, in which they are not 0. Bytes are
	// not searched for it.
	KindFeaturesOf Kind = "features_of"
	// KindSpellings is every other spelling that counts as the same name, in bytes outside of records: no fingerprint
	// stands for them.
	KindSpellings Kind = "spellings"
	// KindBytes is anything else, such as a record's original bytes.
	KindBytes Kind = "bytes"
)

// keyed reports whether a kind is no bytes to be searched for, but compared with keys and
// what JSON says.
func (k Kind) keyed() bool {
	return k == KindIDKey || k == KindPaymentKey || k == KindSubject || k == KindFeaturesOf
}

// MinNeedleBytes and MaxNeedleBytes bound what NewFingerprint takes for kinds
// that stand for raw bytes: shorter needles are found everywhere by chance; of
// a longer one the first MaxNeedleBytes are searched, which every copy of the
// whole also holds.
const (
	MinNeedleBytes = 8
	MaxNeedleBytes = 1 << 16
)

// ErrNeedle refuses a needle that cannot be searched soundly. The caller uses
// another form, or says on the receipt that this one was not searched.
var ErrNeedle = errors.New("needle cannot be searched")

// MAC confirms what the rolling hash found: the first 16 bytes of an
// HMAC-SHA-256 under the deployment's secret, over the kind and the bytes.
type MAC [16]byte

// MarshalText writes the MAC in hexadecimal, for JSON.
func (m MAC) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(m[:])), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *MAC) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(m) {
		return fmt.Errorf("MAC has %d hexadecimal digits, want %d", len(text), 2*len(m))
	}
	if _, err := hex.Decode(m[:], text); err != nil {
		return fmt.Errorf("MAC: %w", err)
	}
	return nil
}

// Fingerprint stands for bytes that must not be found any more, without
// telling them.
type Fingerprint struct {
	Kind Kind `json:"kind"`
	// Length is the number of bytes searched for.
	Length int `json:"length"`
	// AnchorAt is where in them the anchor lies: the six bytes that the scanner
	// looks for first.
	AnchorAt int `json:"anchor_at"`
	// Anchor and Rolling are hashes of the anchor and of the whole, each under a
	// mask that only the secret and the MAC give. Unmasked they would be no keyed
	// hashes: who knows the bytes behind one fingerprint could solve for the
	// multiplier and the base, and then try ids against all the others.
	Anchor  uint64 `json:"anchor,string"`
	Rolling uint64 `json:"rolling,string"`
	MAC     MAC    `json:"mac"`
	// Next are hashes of the anchors that begin one, two and three bytes further, each
	// under a mask of its own. All are zero if the needle is too short for them.
	Next [stride - 1]uint64 `json:"next,omitzero"`
	// Until is the last timestep of records that count, for KindSubject alone.
	Until lethe.Timestep `json:"until,omitempty"`
	// Columns are those of KindFeaturesOf, as lethe.Columns.String says them.
	Columns string `json:"columns,omitempty"`
}

// NewFingerprint returns the fingerprint of the needle's bytes in one form.
// The error is ErrNeedle, names kind and length, and never the bytes.
func NewFingerprint(secret lethe.Secret, kind Kind, needle []byte) (Fingerprint, error) {
	least, ok := minBytes(kind)
	if !ok {
		return Fingerprint{}, fmt.Errorf("%w: unknown kind %q", ErrNeedle, kind)
	}
	if len(needle) < least {
		return Fingerprint{}, fmt.Errorf("%w: %s of %d bytes, at least %d", ErrNeedle, kind, len(needle), least)
	}
	needle = needle[:min(len(needle), MaxNeedleBytes)]
	f := Fingerprint{Kind: kind, Length: len(needle), MAC: macOf(secret, kind, needle)}
	if kind.keyed() {
		return f, nil
	}
	keys := hashKeysOf(secret)
	f.AnchorAt = anchorAt(needle)
	anchorMask, rollingMask := f.masks(secret)
	f.Anchor = anchorOf(keys.multiplier, needle, f.AnchorAt) ^ anchorMask
	f.Rolling = keys.base.hash(needle) ^ rollingMask
	if len(needle) < stridedBytes {
		return f, nil
	}
	for i, mask := range f.nextMasks(secret) {
		f.Next[i] = anchorOf(keys.multiplier, needle, f.AnchorAt+1+i) ^ mask
	}
	return f, nil
}

// Validate checks what can be checked without the secret.
func (f Fingerprint) Validate() error {
	least, ok := minBytes(f.Kind)
	if !ok {
		return fmt.Errorf("fingerprint is of unknown kind %q", f.Kind)
	}
	if f.Length < least || f.Length > MaxNeedleBytes {
		return fmt.Errorf("fingerprint of kind %s has length %d, want %d..%d", f.Kind, f.Length, least, MaxNeedleBytes)
	}
	if _, err := parseColumns(f.Columns); err != nil || f.Columns != "" && f.Kind != KindFeaturesOf {
		return fmt.Errorf("fingerprint of kind %s has columns that it cannot have", f.Kind)
	}
	last := max(0, f.Length-anchorBytes)
	if f.strided() {
		last = f.Length - stridedBytes
	}
	if f.AnchorAt < 0 || f.AnchorAt > last {
		return fmt.Errorf("fingerprint of kind %s has its anchor at %d, want 0..%d", f.Kind, f.AnchorAt, last)
	}
	return nil
}

// masks hide the two hashes at rest. The MAC differs for different needles, so
// no mask is used for two of them.
func (f Fingerprint) masks(secret lethe.Secret) (anchor, rolling uint64) {
	d := secret.Ledger().Hash("fingerprint-mask", f.MAC[:], []byte(f.Kind))
	return binary.LittleEndian.Uint64(d[:8]), binary.LittleEndian.Uint64(d[8:16])
}

// strided reports whether the needle has as many anchors as the stride.
func (f Fingerprint) strided() bool { return f.Next != [stride - 1]uint64{} }

// nextMasks are masks for Next.
func (f Fingerprint) nextMasks(secret lethe.Secret) (out [stride - 1]uint64) {
	d := secret.Ledger().Hash("fingerprint-next", f.MAC[:], []byte(f.Kind))
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(d[8*i:])
	}
	return out
}

func macOf(secret lethe.Secret, kind Kind, needle []byte) MAC {
	return macBy(macHasher(secret), kind, needle)
}

func macHasher(secret lethe.Secret) lethe.Hasher { return secret.Ledger().Hasher("fingerprint") }

func macBy(hasher lethe.Hasher, kind Kind, needle []byte) MAC {
	d := hasher.Hash([]byte(kind), needle)
	return MAC(d[:16])
}

// mac is macOf under the scanner's secret, by a hasher that is used again: making one takes most of the time.
func (sc *Scanner) mac(kind Kind, needle []byte) MAC {
	hasher, _ := sc.hashers.Get().(*lethe.Hasher)
	if hasher == nil {
		made := macHasher(sc.secret)
		hasher = &made
	}
	defer sc.hashers.Put(hasher)
	return macBy(*hasher, kind, needle)
}

// minBytes is the least length at which a form is told from chance.
func minBytes(kind Kind) (int, bool) {
	switch kind {
	case KindID, KindIDJSON, KindIDQuoted, KindPayment, KindSubjectKey:
		return BoundedIDBytes, true
	case KindIDField, KindIDFramed:
		return framedIDBytes, true
	case KindIDKey, KindPaymentKey, KindSubject, KindFeaturesOf:
		return 1, true
	case KindPseudonym, KindPseudonymHex, KindFeatures, KindFeaturesText, KindBytes, KindPaymentText,
		KindPaymentFramed, KindPaymentPseudonyms, KindSubjectIndex:
		return MinNeedleBytes, true
	default:
		return 0, false
	}
}
