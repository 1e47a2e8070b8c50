package scan

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"lethe"
)

// Kind is the form of the bytes behind a fingerprint, and decides how it is matched.
type Kind string

// The kinds. IDFingerprints returns those of an id.
const (
	// KindID is a raw id of 6 bytes or more that stands alone.
	KindID Kind = "id"
	// KindIDJSON is its JSON escape, if different.
	KindIDJSON Kind = "id_json"
	// KindIDQuoted is an id of 4 or 5 bytes in quotes.
	KindIDQuoted Kind = "id_quoted"
	// KindIDField is an id of 1 to 3 bytes, or a word, after a JSON field's name.
	KindIDField Kind = "id_field"
	// KindIDFramed is an id of 3 to 5 bytes after its length, as in canonical bytes.
	KindIDFramed Kind = "id_framed"
	// KindIDKey is a short id or a word as a record's key or an end of a payment's. Only MatchKey uses it.
	KindIDKey Kind = "id_key"
	// KindPseudonym is the last 12 bytes of a pseudonym: sorted tables may omit a shared prefix.
	KindPseudonym Kind = "pseudonym"
	// KindPseudonymHex is its hexadecimal form.
	KindPseudonymHex Kind = "pseudonym_hex"
	// KindPayment is a payment's key, both ids joined by '>', of 6 bytes or more, that stands alone.
	KindPayment Kind = "payment"
	// KindPaymentKey is it as a whole record key or JSON string, or as source and target of a JSON object; not for
	// bytes.
	KindPaymentKey Kind = "payment_key"
	// KindPaymentText is source and target as lethe's JSON has them.
	KindPaymentText Kind = "payment_text"
	// KindPaymentFramed is both ids after their lengths, as in staging.
	KindPaymentFramed Kind = "payment_framed"
	// KindPaymentPseudonyms is a store key that ends with both pseudonyms.
	KindPaymentPseudonyms Kind = "payment_pseudonyms"
	// KindSubject is a key among the subjects of a record, up to the timestep Until; not for bytes.
	KindSubject Kind = "subject"
	// KindSubjectKey is such a key of 6 bytes or more that stands alone in lethe's files. Topics may have it in later
	// records.
	KindSubjectKey Kind = "subject_key"
	// KindSubjectIndex is a store key that records a carried subject.
	KindSubjectIndex Kind = "subject_index"
	// KindFeatures is a feature row as little-endian float32.
	KindFeatures Kind = "features"
	// KindFeaturesText is a feature row as in lethe's JSON.
	KindFeaturesText Kind = "features_text"
	// KindFeaturesOf is features of a transaction, by id and columns: a JSON object or a graph's row with values other
	// than 0; not for bytes.
	KindFeaturesOf Kind = "features_of"
	// KindSpellings is other spellings of a name outside of records. It has no fingerprints.
	KindSpellings Kind = "spellings"
	// KindBytes is anything else, such as a record's bytes.
	KindBytes Kind = "bytes"
)

// keyed reports whether a kind is compared with keys and decoded JSON, not with bytes.
func (k Kind) keyed() bool {
	return k == KindIDKey || k == KindPaymentKey || k == KindSubject || k == KindFeaturesOf
}

// MinNeedleBytes and MaxNeedleBytes bound needles of raw bytes: shorter ones occur by chance, and of longer ones the
// first MaxNeedleBytes are searched.
const (
	MinNeedleBytes = 8
	MaxNeedleBytes = 1 << 16
)

// ErrNeedle means that the needle cannot be searched reliably. Use another form, or declare it as not searched.
var ErrNeedle = errors.New("needle cannot be searched")

// MAC is the first 16 bytes of an HMAC-SHA-256 over kind and bytes, and confirms a match of the rolling hash.
type MAC [16]byte

// MarshalText writes the MAC in hexadecimal, for JSON.
func (m MAC) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(m[:])), nil }

// UnmarshalText decodes the text of MarshalText.
func (m *MAC) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(m) {
		return fmt.Errorf("MAC has %d hexadecimal digits, want %d", len(text), 2*len(m))
	}
	if _, err := hex.Decode(m[:], text); err != nil {
		return fmt.Errorf("MAC: %w", err)
	}
	return nil
}

// Fingerprint identifies bytes without revealing them.
type Fingerprint struct {
	Kind Kind `json:"kind"`
	// Length is the needle's length.
	Length int `json:"length"`
	// AnchorAt is the place of the anchor in the needle.
	AnchorAt int `json:"anchor_at"`
	// Anchor and Rolling are hashes of the anchor and of the needle, masked: unmasked, known bytes behind one
	// fingerprint would give away multiplier and base, and ids could be tried against all others.
	Anchor  uint64 `json:"anchor,string"`
	Rolling uint64 `json:"rolling,string"`
	MAC     MAC    `json:"mac"`
	// Next are masked hashes of the anchors one, two and three bytes further; zero for short needles.
	Next [stride - 1]uint64 `json:"next,omitzero"`
	// Until is the last timestep that counts, for KindSubject.
	Until lethe.Timestep `json:"until,omitempty"`
	// Columns are those of KindFeaturesOf, as text.
	Columns string `json:"columns,omitempty"`
}

// NewFingerprint returns the fingerprint of a needle. The error is ErrNeedle and never has the bytes.
func NewFingerprint(secret lethe.Secret, kind Kind, needle []byte) (Fingerprint, error) {
	least, ok := minBytes(kind)
	if !ok {
		return Fingerprint{}, fmt.Errorf("%w: unknown kind %q", ErrNeedle, kind)
	}
	if len(needle) < least {
		return Fingerprint{}, fmt.Errorf("%w: %s of %d bytes, at least %d", ErrNeedle, kind, len(needle), least)
	}
	needle = needle[:min(len(needle), MaxNeedleBytes)]
	f := Fingerprint{Kind: kind, Length: len(needle), MAC: macBy(macHasher(secret), kind, needle)}
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

// Validate checks everything that needs no secret.
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

// masks hide the hashes. MACs differ between needles, so no mask is used twice.
func (f Fingerprint) masks(secret lethe.Secret) (anchor, rolling uint64) {
	d := secret.Ledger().Hash("fingerprint-mask", f.MAC[:], []byte(f.Kind))
	return binary.LittleEndian.Uint64(d[:8]), binary.LittleEndian.Uint64(d[8:16])
}

// strided reports whether the needle has stride anchors.
func (f Fingerprint) strided() bool { return f.Next != [stride - 1]uint64{} }

// nextMasks are masks for Next.
func (f Fingerprint) nextMasks(secret lethe.Secret) (out [stride - 1]uint64) {
	d := secret.Ledger().Hash("fingerprint-next", f.MAC[:], []byte(f.Kind))
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(d[8*i:])
	}
	return out
}

func macHasher(secret lethe.Secret) lethe.Hasher { return secret.Ledger().Hasher("fingerprint") }

func macBy(hasher lethe.Hasher, kind Kind, needle []byte) MAC {
	d := hasher.Hash([]byte(kind), needle)
	return MAC(d[:16])
}

// mac is macBy with reused hashers: making one takes most of the time.
func (sc *Scanner) mac(kind Kind, needle []byte) MAC {
	hasher, _ := sc.hashers.Get().(*lethe.Hasher)
	if hasher == nil {
		made := macHasher(sc.secret)
		hasher = &made
	}
	defer sc.hashers.Put(hasher)
	return macBy(*hasher, kind, needle)
}

// minBytes is the shortest needle of a kind.
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
