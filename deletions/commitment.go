package deletions

import (
	"crypto/sha256"
	"encoding/binary"

	"lethe"
)

// TargetSalt is the salt of the commitment to target i of a request. Who gives it away opens
// that commitment and no other.
func TargetSalt(secret lethe.Secret, request lethe.Digest, i int) lethe.Digest {
	return secret.Hash("log-commitment", request[:], binary.LittleEndian.AppendUint64(nil, uint64(i)))
}

// Commitment commits to a pseudonym: SHA-256 of the salt and the pseudonym. Without the salt
// nobody can tell whose it is; with it, everybody can check that it is this one's.
func Commitment(salt lethe.Digest, pseudonym lethe.Pseudonym) lethe.Digest {
	return sha256.Sum256(append(salt[:], pseudonym[:]...))
}

// commitments are those to the targets of a request that are transactions, in its order.
func commitments(secret lethe.Secret, request lethe.Digest, ids []lethe.TransactionID) []lethe.Digest {
	out := make([]lethe.Digest, len(ids))
	for i, id := range ids {
		out[i] = Commitment(TargetSalt(secret, request, i), secret.Pseudonym(id))
	}
	return out
}

// transactionsOf are the targets that are whole transactions, in their order. What else is
// erased leaves its transactions, and their pseudonyms, where they were.
func transactionsOf(targets []lethe.Target) (ids []lethe.TransactionID) {
	for _, t := range targets {
		if t.Kind == lethe.TransactionTarget {
			ids = append(ids, t.Transaction)
		}
	}
	return ids
}

// Salts are the salts of the first n targets of a request.
func Salts(secret lethe.Secret, request lethe.Digest, n int) []lethe.Digest {
	out := make([]lethe.Digest, n)
	for i := range out {
		out[i] = TargetSalt(secret, request, i)
	}
	return out
}

// SaltsDigest commits to the salts of a request's targets, in their order, so that the
// request can be opened with no others. It is zero for a request that names no transaction.
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
