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

// Republished returns the record that takes the place of another one in its partition.
func Republished(secret lethe.Secret, rec Record, value []byte) Outgoing {
	return Outgoing{
		Key: slices.Clone(rec.Key), Value: value, Pinned: true, Partition: rec.Partition,
		Headers: []Header{{Key: republishedBy, Value: republishedCode(secret, rec.Key, value)}},
	}
}

// IsRepublished reports whether lethe has published a record again. It is no news then, but
// to a store that was lost.
func IsRepublished(secret lethe.Secret, rec Record) bool {
	at := slices.IndexFunc(rec.Headers, func(h Header) bool { return h.Key == republishedBy })
	return at >= 0 && string(rec.Headers[at].Value) == string(republishedCode(secret, rec.Key, rec.Value))
}

func republishedCode(secret lethe.Secret, key, value []byte) []byte {
	code := secret.Hash("republished", key, value)
	return hex.AppendEncode(nil, code[:16])
}
