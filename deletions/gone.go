package deletions

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"lethe"
	"lethe/deletions/internal/record"
)

// mostFound bounds the commitments to what a plan has found: they travel in one leaf.
const mostFound = 4000

// Gone is what a plan says that no slice may hold once a request is carried out, beside the
// transactions that the request names. It names pseudonyms and is not stored.
type Gone struct {
	// Transactions go with subjects.
	Transactions []lethe.Pseudonym
	Features     []GoneFeatures
	// Pairs are transactions that no payment joins any more, and both stay. PairStubs stand for
	// one of such a pair in the slice of the other.
	Pairs     []lethe.PseudonymPair
	PairStubs []GoneStub
	// Stubs stand for transactions that go.
	Stubs []GoneStub
}

// GoneFeatures are features that become 0.
type GoneFeatures struct {
	Of      lethe.Pseudonym
	Columns []int
}

// GoneStub is a stub: its owner and its factor, which is drawn for the pair that it stands for.
type GoneStub struct {
	Owner  lethe.Pseudonym
	Lambda float32
}

// Add adds what another part of a plan says.
func (g *Gone) Add(other Gone) {
	g.Transactions = append(g.Transactions, other.Transactions...)
	g.Features = append(g.Features, other.Features...)
	g.Pairs, g.PairStubs = append(g.Pairs, other.Pairs...), append(g.PairStubs, other.PairStubs...)
	g.Stubs = append(g.Stubs, other.Stubs...)
}

// FoundSalt is the salt of the commitments to what a plan has found for a request.
func FoundSalt(secret lethe.Secret, request lethe.Digest) lethe.Digest {
	return secret.Ledger().Hash("log-found", request[:])
}

// Found are the commitments to what is Gone, all under one salt, for one opens all of them. Each
// list ascends.
type Found struct {
	Transactions []lethe.Digest `json:"transactions,omitempty"`
	// Features are to transactions of which features go, and to each of these features.
	Features  []lethe.Digest `json:"features,omitempty"`
	Pairs     []lethe.Digest `json:"pairs,omitempty"`
	PairStubs []lethe.Digest `json:"pair_stubs,omitempty"`
	Stubs     []lethe.Digest `json:"stubs,omitempty"`
	// LeftOut counts what was not committed to, because it was too much for one leaf.
	LeftOut int `json:"left_out,omitempty"`
	// Salt commits to the salt (SaltsDigest).
	Salt lethe.Digest `json:"salt_digest"`
}

// All are all commitments.
func (f *Found) All() []lethe.Digest {
	return slices.Concat(f.Transactions, f.Features, f.Pairs, f.PairStubs, f.Stubs)
}

// Commit returns the commitments to what is gone, or nil if nothing is.
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

// FeaturesCommitment commits to a transaction as one of which features are erased.
func FeaturesCommitment(salt lethe.Digest, p lethe.Pseudonym) lethe.Digest {
	return foundAs("features", salt, p[:])
}

// FeatureCommitment commits to a feature of a transaction, by its position.
func FeatureCommitment(salt lethe.Digest, p lethe.Pseudonym, column int) lethe.Digest {
	return foundAs("feature", salt, binary.LittleEndian.AppendUint64(p[:], uint64(column)))
}

// PairCommitment commits to two transactions, whichever is first.
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

// foundAs is SHA-256 of a salt, a word, a zero byte and some bytes.
func foundAs(what string, salt lethe.Digest, data []byte) lethe.Digest {
	return sha256.Sum256(slices.Concat(salt[:], []byte(what), []byte{0}, data))
}
