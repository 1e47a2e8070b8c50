package deletions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
)

// nonceBytes is the length of a nonce; it has two digits a byte.
const nonceBytes = 16

// RequestDigest is SHA-256 of the request as a JSON object with the members deadline (RFC 3339 in UTC), features_of,
// nodes (ascending), nonce, payments, reason, request_id, scope, subjects (ascending) and until, in this order,
// without white space. deadline, features_of, payments, subjects and until are left out where absent. Payments are
// objects of source and target, sorted by both; features_of objects of columns (ascending, absent for all) and id,
// sorted by id, then columns. Names are spelled as in the request. Statuses and receipts carry the digest: a holder
// of the request can recognise them, others learn nothing. Errors: lethe.ErrTarget.
func RequestDigest(r lethe.ErasureRequest) (lethe.Digest, error) {
	if err := lethe.CheckTargets(r.Targets); err != nil {
		return lethe.Digest{}, err
	}
	ids, payments, features := []lethe.TransactionID{}, []namedPayment{}, []namedFeatures{}
	members := map[string]any{"nonce": r.Nonce, "reason": r.Reason, "request_id": r.RequestID, "scope": r.Scope}
	var subjects []string
	named := r.Targets
	if r.Named != nil {
		named = r.Named
	}
	for _, t := range named {
		switch t.Kind {
		case lethe.PaymentTarget:
			payments = append(payments, namedPayment{t.Payment.Source, t.Payment.Target})
		case lethe.FeaturesTarget:
			features = append(features, namedFeatures{t.Columns, t.Transaction})
		case lethe.SubjectTarget:
			subjects = append(subjects, t.Subject)
			if t.Until != lethe.NoTimestep {
				members["until"] = t.Until
			}
		default:
			ids = append(ids, t.Transaction)
		}
	}
	slices.Sort(ids)
	slices.SortFunc(payments, func(a, b namedPayment) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	slices.SortFunc(features, func(a, b namedFeatures) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), slices.Compare(a.Columns, b.Columns))
	})
	members["nodes"] = ids
	if len(payments) > 0 {
		members["payments"] = payments
	}
	if len(features) > 0 {
		members["features_of"] = features
	}
	if !r.Deadline.IsZero() {
		members["deadline"] = r.Deadline.UTC().Format(time.RFC3339Nano)
	}
	if len(subjects) > 0 {
		slices.Sort(subjects)
		members["subjects"] = subjects
	}
	content, err := record.Encode(members)
	if err != nil {
		return lethe.Digest{}, fmt.Errorf("request digest: %w", err)
	}
	return sha256.Sum256(content), nil
}

type namedPayment struct {
	Source lethe.TransactionID `json:"source"`
	Target lethe.TransactionID `json:"target"`
}

type namedFeatures struct {
	Columns lethe.Columns       `json:"columns,omitempty"`
	ID      lethe.TransactionID `json:"id"`
}

// NonceOf is the nonce of a request without one. Without a nonce, a digest of one short id could be found by trying
// ids.
func NonceOf(secret lethe.Secret, requestID string) string {
	d := secret.Ledger().Hash("request-nonce", []byte(requestID))
	return hex.EncodeToString(d[:nonceBytes])
}

// NamesTarget reports whether the request's id contains a target's name; of a payment, both names.
func NamesTarget(r lethe.ErasureRequest) bool {
	return slices.ContainsFunc(slices.Concat(r.Targets, r.Named), func(t lethe.Target) bool {
		switch t.Kind {
		case lethe.PaymentTarget:
			return holdsID(r.RequestID, string(t.Payment.Source)) && holdsID(r.RequestID, string(t.Payment.Target))
		case lethe.SubjectTarget:
			return holdsID(r.RequestID, t.Subject)
		default:
		}
		return holdsID(r.RequestID, string(t.Transaction))
	})
}

// holdsID reports whether a request id contains an id: as a whole, between separators, or anywhere if the id is
// long.
func holdsID(requestID, id string) bool {
	parts := strings.FieldsFunc(requestID, func(c rune) bool { return strings.ContainsRune(".-_", c) })
	return requestID == id || slices.Contains(parts, id) ||
		len(id) >= scan.BoundedIDBytes && strings.Contains(requestID, id)
}

// ValidRequestID reports whether an id has 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', and does not begin with '.'.
func ValidRequestID(id string) bool {
	valid := func(c rune) bool {
		return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.ContainsRune("._-", c)
	}
	return id != "" && len(id) <= maxRequestIDBytes && id[0] != '.' &&
		!strings.ContainsFunc(id, func(c rune) bool { return !valid(c) })
}
