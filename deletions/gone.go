package deletions

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
)

// mostFound bounds the commitments to a plan's findings: they are one leaf.
const mostFound = 4000

// Gone is the data that no slice may hold after a request, besides the transactions it names. It has pseudonyms and is
// not stored.
type Gone struct {
	// Transactions are erased with subjects.
	Transactions []lethe.Pseudonym
	Features     []GoneFeatures
	// Pairs are transactions that lose their payment and both stay. PairStubs are the stubs for such payments.
	Pairs     []lethe.PseudonymPair
	PairStubs []GoneStub
	// Stubs are for erased transactions.
	Stubs []GoneStub
}

// GoneFeatures are features set to 0.
type GoneFeatures struct {
	Of      lethe.Pseudonym
	Columns []int
}

// GoneStub is a stub by its owner and its factor, which is drawn per pair.
type GoneStub struct {
	Owner  lethe.Pseudonym
	Lambda float32
}

// Add adds another part of a plan.
func (g *Gone) Add(other Gone) {
	g.Transactions = append(g.Transactions, other.Transactions...)
	g.Features = append(g.Features, other.Features...)
	g.Pairs, g.PairStubs = append(g.Pairs, other.Pairs...), append(g.PairStubs, other.PairStubs...)
	g.Stubs = append(g.Stubs, other.Stubs...)
}

// FoundSalt is the salt of all commitments to a request's findings.
func FoundSalt(secret lethe.Secret, request lethe.Digest) lethe.Digest {
	return secret.Ledger().Hash("log-found", request[:])
}

// Found are the commitments to Gone under one salt: opening one opens all. Each list ascends.
type Found struct {
	Transactions []lethe.Digest `json:"transactions,omitempty"`
	// Features are to transactions with erased features, and to each of these features.
	Features  []lethe.Digest `json:"features,omitempty"`
	Pairs     []lethe.Digest `json:"pairs,omitempty"`
	PairStubs []lethe.Digest `json:"pair_stubs,omitempty"`
	Stubs     []lethe.Digest `json:"stubs,omitempty"`
	// LeftOut counts the commitments that exceeded one leaf.
	LeftOut int `json:"left_out,omitempty"`
	// Salt commits to the salt (SaltsDigest).
	Salt lethe.Digest `json:"salt_digest"`
}

// All are all commitments.
func (f *Found) All() []lethe.Digest {
	return slices.Concat(f.Transactions, f.Features, f.Pairs, f.PairStubs, f.Stubs)
}

// Commit returns the commitments, or nil if nothing is gone.
func (g Gone) Commit(secret lethe.Secret, request lethe.Digest) *Found {
	salt := FoundSalt(secret, request)
	out := &Found{Salt: SaltsDigest([]lethe.Digest{salt})}
	room := mostFound
	add := func(to *[]lethe.Digest, commitments ...lethe.Digest) {
		if room < len(commitments) {
			out.LeftOut++
			return
		}
		room -= len(commitments)
		*to = append(*to, commitments...)
	}
	for _, p := range g.Transactions {
		add(&out.Transactions, Commitment(salt, p))
	}
	for _, f := range g.Features {
		all := []lethe.Digest{FeaturesCommitment(salt, f.Of)}
		for _, k := range f.Columns {
			all = append(all, FeatureCommitment(salt, f.Of, k))
		}
		add(&out.Features, all...)
	}
	for _, s := range g.Stubs {
		add(&out.Stubs, StubCommitment(salt, s.Owner, s.Lambda))
	}
	for _, p := range g.Pairs {
		add(&out.Pairs, PairCommitment(salt, p.Source, p.Target))
	}
	for _, s := range g.PairStubs {
		add(&out.PairStubs, StubCommitment(salt, s.Owner, s.Lambda))
	}
	for _, list := range []*[]lethe.Digest{&out.Transactions, &out.Features, &out.Pairs, &out.PairStubs, &out.Stubs} {
		slices.SortFunc(*list, record.CompareDigests)
		*list = slices.Compact(*list)
	}
	if room == mostFound && out.LeftOut == 0 {
		return nil
	}
	return out
}

// FeaturesCommitment commits to a transaction with erased features.
func FeaturesCommitment(salt lethe.Digest, p lethe.Pseudonym) lethe.Digest {
	return foundAs("features", salt, p[:])
}

// FeatureCommitment commits to a feature of a transaction, by its position.
func FeatureCommitment(salt lethe.Digest, p lethe.Pseudonym, column int) lethe.Digest {
	return foundAs("feature", salt, binary.LittleEndian.AppendUint64(p[:], uint64(column)))
}

// PairCommitment commits to two transactions in either order.
func PairCommitment(salt lethe.Digest, a, b lethe.Pseudonym) lethe.Digest {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return foundAs("pair", salt, append(a[:], b[:]...))
}

// StubCommitment commits to a stub.
func StubCommitment(salt lethe.Digest, owner lethe.Pseudonym, lambda float32) lethe.Digest {
	return foundAs("stub", salt, binary.LittleEndian.AppendUint32(owner[:], math.Float32bits(lambda)))
}

// foundAs is SHA-256 of a salt, a word, a zero byte and data.
func foundAs(what string, salt lethe.Digest, data []byte) lethe.Digest {
	return sha256.Sum256(slices.Concat(salt[:], []byte(what), []byte{0}, data))
}

// GoneFolder is a role's folder in a data directory that was replaced (`lethe run --take-over`) or struck off
// (`lethe members strike`).
type GoneFolder struct {
	Role string `json:"role"`
	// Instance is the directory's identity; empty for Earlier ones, of which only the number is known.
	Instance   string    `json:"instance,omitempty"`
	Earlier    int       `json:"earlier,omitempty"`
	DeclaredAt time.Time `json:"declared_at,omitzero"`
	// Struck means that the directory was struck off.
	Struck bool `json:"struck_off,omitempty"`
}

// KeptStubs counts the stubs for erased records in a slice.
type KeptStubs struct {
	SliceRef
	Stubs int `json:"stubs"`
}

// UnreadableBatch is a range of a partition that cannot be read, and was not searched.
type UnreadableBatch struct {
	Partition int   `json:"partition"`
	First     int64 `json:"first_offset"`
	Last      int64 `json:"last_offset"`
	// Bytes and SHA256 are of that range.
	Bytes  int          `json:"bytes"`
	SHA256 lethe.Digest `json:"sha256"`
}

// Valid reports whether the range is possible.
func (u UnreadableBatch) Valid() bool {
	return u.Partition >= 0 && 0 <= u.First && u.First <= u.Last && u.Bytes > 0 && !u.SHA256.IsZero()
}

// HeldRequest waited for holds when another request was verified; its own record in erasures.v1 names something
// erased there. The record is deleted when it has been carried out or cancelled.
type HeldRequest struct {
	RequestID     string       `json:"request_id"`
	RequestDigest lethe.Digest `json:"request_digest"`
	// Holds are those in force; empty if the last has just ended.
	Holds []string `json:"holds"`
	// Unsigned means that another signature is missing.
	Unsigned bool `json:"awaits_signature,omitempty"`
	// Records counts the record in the log: more than once if rewritten and not yet compacted.
	Records int `json:"records"`
}
