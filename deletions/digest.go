package deletions

import (
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

// nonceBytes is half the digits of a nonce.
const nonceBytes = 16

// RequestDigest returns the digest of a request's content: SHA-256 of the JSON object with
// the members deadline (RFC 3339 in UTC, if there is one), nodes (ascending), nonce, reason,
// request_id and scope, in this order and without white space. A status and a receipt carry it, so that whoever holds
// the request can tell that they are its own, and nobody else learns anything.
// Errors: lethe.ErrTarget.
func RequestDigest(r lethe.ErasureRequest) (lethe.Digest, error) {
	ids, err := lethe.TransactionsOf(r.Targets)
	if err != nil {
		return lethe.Digest{}, err
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	members := map[string]any{
		"nodes": ids, "nonce": r.Nonce, "reason": r.Reason, "request_id": r.RequestID, "scope": r.Scope,
	}
	if !r.Deadline.IsZero() {
		members["deadline"] = r.Deadline.UTC().Format(time.RFC3339Nano)
	}
	content, err := record.Encode(members)
	if err != nil {
		return lethe.Digest{}, fmt.Errorf("request digest: %w", err)
	}
	return sha256.Sum256(content), nil
}

// nonceOf is the nonce of a request that has none: without one, the digest of a
// request with a single short id could be found by trying ids.
func nonceOf(secret lethe.Secret, requestID string) string {
	d := secret.Hash("request-nonce", []byte(requestID))
	return hex.EncodeToString(d[:nonceBytes])
}

// NamesTarget reports whether the request's id holds the id of a target: as it is,
// between its separators, or anywhere if it is long enough not to be there by chance.
func NamesTarget(r lethe.ErasureRequest) bool {
	parts := strings.FieldsFunc(r.RequestID, func(c rune) bool { return strings.ContainsRune(".-_", c) })
	return slices.ContainsFunc(r.Targets, func(t lethe.Target) bool {
		id := string(t.Transaction)
		return r.RequestID == id || slices.Contains(parts, id) ||
			len(id) >= scan.BoundedIDBytes && strings.Contains(r.RequestID, id)
	})
}
