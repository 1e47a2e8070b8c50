package deletions

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"lethe"
)

// TargetSalt is the salt of commitment i of a request. Revealing it opens that commitment and no other.
func TargetSalt(secret lethe.Secret, request lethe.Digest, i int) lethe.Digest {
	return secret.Ledger().Hash("log-commitment", request[:], binary.LittleEndian.AppendUint64(nil, uint64(i)))
}

// Commitment is SHA-256 of a salt and a pseudonym. It can be checked with the salt, and reveals nothing without it.
func Commitment(salt lethe.Digest, pseudonym lethe.Pseudonym) lethe.Digest {
	return sha256.Sum256(append(salt[:], pseudonym[:]...))
}

// PaymentCommitment is Commitment for a payment: SHA-256 of the salt and the pseudonyms of source and target.
func PaymentCommitment(salt lethe.Digest, source, target lethe.Pseudonym) lethe.Digest {
	return sha256.Sum256(slices.Concat(salt[:], source[:], target[:]))
}

// Committed are the commitments to the targets of a request.
type Committed struct {
	// Commitments are to the transactions, in request order.
	Commitments []lethe.Digest `json:"commitments,omitempty"`
	// Payments are to the payments, in request order. Their salts follow those of the transactions.
	Payments []lethe.Digest `json:"payment_commitments,omitempty"`
	// Salts commits to all salts (SaltsDigest).
	Salts lethe.Digest `json:"salts_digest,omitzero"`
}

// Count is the number of commitments, and of salts.
func (c Committed) Count() int { return len(c.Commitments) + len(c.Payments) }

func commit(secret lethe.Secret, request lethe.Digest, targets []lethe.Target) (c Committed) {
	next := func() lethe.Digest { return TargetSalt(secret, request, c.Count()) }
	for _, t := range targets {
		if t.Kind == lethe.TransactionTarget {
			c.Commitments = append(c.Commitments, Commitment(next(), secret.Pseudonym(t.Transaction)))
		}
	}
	for _, t := range targets {
		if t.Kind == lethe.PaymentTarget {
			c.Payments = append(c.Payments, PaymentCommitment(next(), secret.Pseudonym(t.Payment.Source),
				secret.Pseudonym(t.Payment.Target)))
		}
	}
	c.Salts = SaltsDigest(Salts(secret, request, c.Count()))
	return c
}

// Salts are the first n salts of a request.
func Salts(secret lethe.Secret, request lethe.Digest, n int) []lethe.Digest {
	out := make([]lethe.Digest, n)
	for i := range out {
		out[i] = TargetSalt(secret, request, i)
	}
	return out
}

// SaltsDigest commits to the ordered salts of a request, so that it can be opened in one way only. Zero without
// salts.
func SaltsDigest(salts []lethe.Digest) lethe.Digest {
	if len(salts) == 0 {
		return lethe.Digest{}
	}
	h := sha256.New()
	for _, salt := range salts {
		h.Write(salt[:])
	}
	return lethe.Digest(h.Sum(nil))
}
