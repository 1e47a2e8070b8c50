package ingest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"lethe"
)

// Redacted returns a transaction's value with its erased features set to 0, in the same format
// and without unknown fields, and whether the value changed. A value that is malformed or not
// a transaction is returned unchanged.
func Redacted(value []byte, erased func(lethe.TransactionID) (lethe.Columns, bool)) ([]byte, bool) {
	t, is := transactionIn(value)
	if !is {
		return value, false
	}
	columns, redacted := erased(t.ID)
	if !redacted {
		return value, false
	}
	features, changed := columns.Zeroed(t.Features)
	if !changed {
		return value, false
	}
	t.Features = features
	_, out, err := encodingOf(value).Transaction(t)
	return out, err == nil
}

// NamedIn returns the transaction that a value contains, if it contains one, whether or not
// it is acceptable.
func NamedIn(value []byte) (lethe.TransactionID, bool) {
	t, is := transactionIn(value)
	return t.ID, is
}

func transactionIn(value []byte) (t lethe.Transaction, is bool) {
	o := new(object)
	if r := parseValue(o, value, 0); r != nil {
		return t, false
	}
	return transactionOf(o)
}

// transactionOf returns the transaction that an object contains, whether or not it is
// acceptable.
func transactionOf(o *object) (t lethe.Transaction, is bool) {
	if o.kind != "transaction" || !lethe.ValidID(o.id) {
		return t, false
	}
	const fields = fieldType | fieldID | fieldTimestep | fieldFeatures
	if r := o.holdAmong(fields, fieldSubjects); r != nil || len(o.features) == 0 {
		return t, false
	}
	return lethe.Transaction{
		ID: lethe.TransactionID(o.id), Timestep: o.timestep, Features: o.features, Subjects: o.subjects,
	}, true
}

// republishedBy is the header of a record that lethe republished with erased features set to 0, or without the names
// of erased targets. Its value is a code under the deployment's secret, so that no producer can have a record ignored.
const republishedBy = "lethe-redacted"

// Republished returns the record that replaces another one in its partition, with some of its
// headers. refused means that the original was rejected: a store that is rebuilt must reject the
// replacement, too.
func Republished(secret lethe.Secret, rec Record, value []byte, refused bool, headers ...Header) Outgoing {
	before := func(h Header) bool { return h.Key == republishedBy }
	headers = append(slices.DeleteFunc(slices.Clone(headers), before),
		Header{Key: republishedBy, Value: republishedCode(secret, rec.Key, value, refused, offsetOf(rec.Offset))})
	return Outgoing{
		Key: slices.Clone(rec.Key), Value: value, Pinned: true, Partition: rec.Partition, Headers: headers,
	}
}

// IsRepublished reports whether lethe republished a record, and whether the original was
// rejected. Such a record is already known, except to a store that is being rebuilt.
func IsRepublished(secret lethe.Secret, rec Record) (is, refused bool) {
	at := slices.IndexFunc(rec.Headers, func(h Header) bool { return h.Key == republishedBy })
	if at < 0 {
		return false, false
	}
	value := rec.Headers[at].Value
	replaced := value[min(len(value), codeDigits):]
	for _, refused := range []bool{false, true} {
		if string(value) == string(republishedCode(secret, rec.Key, rec.Value, refused, replaced)) {
			return true, refused
		}
	}
	return false, false
}

// ReplacedOffset is the offset of the record that a republished one replaced, -1 without such a header.
func ReplacedOffset(headers []Header) int64 {
	at := slices.IndexFunc(headers, func(h Header) bool { return h.Key == republishedBy })
	if at < 0 || len(headers[at].Value) <= codeDigits {
		return -1
	}
	offset, err := strconv.ParseInt(string(headers[at].Value[codeDigits:]), 16, 64)
	if err != nil {
		return -1
	}
	return offset
}

func offsetOf(offset int64) []byte { return fmt.Appendf(nil, "%016x", offset) }

// codeDigits is the length of an encoded code.
const codeDigits = 32

// republishedCode is the code of the record, followed by the offset of the record that it
// replaces.
func republishedCode(secret lethe.Secret, key, value []byte, refused bool, replaced []byte) []byte {
	purpose := "republished"
	if refused {
		purpose = "republished, refused"
	}
	parts := [][]byte{key, value}
	if len(replaced) > 0 {
		parts = append(parts, replaced)
	}
	code := secret.Ledger().Hash(purpose, parts...)
	return append(hex.AppendEncode(nil, code[:codeDigits/2]), replaced...)
}

// Remainder is the part of a record without the names of erased targets.
type Remainder struct {
	Record
	// Cut: names of erased targets were removed. Again: the record must be published again, because it was cut or because
	// a republished older record would replace it.
	Cut, Again bool
	// Names: the record names an erased target and must be dropped as a whole.
	Names bool
}

// Redaction is a record's value with zeros for erased features, and without names of targets.
type Redaction struct {
	Value []byte
	// Headers are the remaining ones.
	Headers []Header
	// Refused means that the record is rejected nevertheless.
	Refused bool
}
