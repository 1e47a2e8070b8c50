package ingest

import (
	"encoding/hex"
	"slices"

	"lethe"
)

// republishedBy is the header of a record that lethe has published again with 0 for features
// that were erased. Its value is a code under the deployment's secret, so that no producer
// can have a record passed over.
const republishedBy = "lethe-redacted"

// Republished returns the record that takes the place of another one in its partition. refused
// says that the other one was refused: to a store that is made anew this one is, too.
func Republished(secret lethe.Secret, rec Record, value []byte, refused bool) Outgoing {
	return Outgoing{
		Key: slices.Clone(rec.Key), Value: value, Pinned: true, Partition: rec.Partition,
		Headers: []Header{{Key: republishedBy, Value: republishedCode(secret, rec.Key, value, refused)}},
	}
}

// IsRepublished reports whether lethe has published a record again, and whether the one whose
// place it has was refused. It is no news then, but to a store that was lost.
func IsRepublished(secret lethe.Secret, rec Record) (is, refused bool) {
	at := slices.IndexFunc(rec.Headers, func(h Header) bool { return h.Key == republishedBy })
	if at < 0 {
		return false, false
	}
	for _, refused := range []bool{false, true} {
		if string(rec.Headers[at].Value) == string(republishedCode(secret, rec.Key, rec.Value, refused)) {
			return true, refused
		}
	}
	return false, false
}

func republishedCode(secret lethe.Secret, key, value []byte, refused bool) []byte {
	purpose := "republished"
	if refused {
		purpose = "republished, refused"
	}
	code := secret.Hash(purpose, key, value)
	return hex.AppendEncode(nil, code[:16])
}
