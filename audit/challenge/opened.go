package challenge

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
)

// erased holds the targets that no slice may contain.
type erased struct {
	transactions, payments []target
	found                  []found
}

// target is an opened commitment.
type target struct {
	of               *request
	salt, commitment lethe.Digest
}

// open opens the commitments of the requests that were carried out. Problems name requests without
// a valid opening.
func (v *View) open(openings []Opening) (e erased, problems []string) {
	salts := make(map[lethe.Digest][]lethe.Digest)
	for _, o := range openings {
		salts[o.Request] = o.Salts
	}
	for _, q := range v.carriedOut() {
		own, n := salts[q.at.Digest], q.at.Count()
		switch {
		case q.salts() == 0:
		case own == nil:
			problems = append(problems, fmt.Sprintf("the commitments of request leaf %d are not opened", q.leaf))
		case len(own) != q.salts() || deletions.SaltsDigest(own[:n]) != q.at.Salts:
			problems = append(problems, fmt.Sprintf("what opens request leaf %d is not what the leaf commits to", q.leaf))
		case q.found != nil && deletions.SaltsDigest(own[n:]) != q.found.Salt:
			problems = append(problems, fmt.Sprintf("what opens leaf %d, of what request leaf %d has found, is not what it "+
				"commits to", q.foundAt, q.leaf))
		default:
			for i, c := range q.at.Commitments {
				e.transactions = append(e.transactions, target{q, own[i], c})
			}
			for i, c := range q.at.Payments {
				e.payments = append(e.payments, target{q, own[len(q.at.Commitments)+i], c})
			}
			if q.found != nil {
				e.found = append(e.found, newFound(q, own[n]))
			}
		}
	}
	return e, problems
}

// transaction returns the request that has erased a transaction of a slice, or nil.
func (e erased) transaction(s *lethe.Slice) *request {
	for _, t := range e.transactions {
		for _, p := range s.Nodes {
			if deletions.Commitment(t.salt, p) == t.commitment {
				return t.of
			}
		}
	}
	return nil
}

// payment returns the request that has erased a payment that the slice certainly contains, or nil.
// An edge has no direction: it may stand for the opposite payment, unless that was erased too. Such
// ambiguous edges are counted as open.
func (e erased) payment(s *lethe.Slice) (q *request, open int) {
	for _, edge := range s.Edges {
		there, back := e.paid(s.Nodes[edge.A], s.Nodes[edge.B]), e.paid(s.Nodes[edge.B], s.Nodes[edge.A])
		switch {
		case there != nil && back != nil:
			if there.leaf < back.leaf {
				there = back
			}
			return there, open
		case there != nil || back != nil:
			open++
		}
	}
	return nil, open
}

func (e erased) paid(source, to lethe.Pseudonym) *request {
	at := slices.IndexFunc(e.payments, func(t target) bool {
		return deletions.PaymentCommitment(t.salt, source, to) == t.commitment
	})
	if at < 0 {
		return nil
	}
	return e.payments[at].of
}
