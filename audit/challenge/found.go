package challenge

import (
	"fmt"

	"lethe"
	"lethe/deletions"
)

// found holds the findings of a request's plan that no slice may contain, as commitments under one
// salt.
type found struct {
	of   *request
	salt lethe.Digest
	// transactions were erased with subjects, stubs replaced erased neighbours. pairs and their
	// stubs joined transactions that are not joined by any payment any more.
	transactions, features, stubs, pairs, pairStubs map[lethe.Digest]bool
}

func newFound(q *request, salt lethe.Digest) found {
	set := func(list []lethe.Digest) map[lethe.Digest]bool {
		out := make(map[lethe.Digest]bool, len(list))
		for _, c := range list {
			out[c] = true
		}
		return out
	}
	f := q.found
	return found{q, salt, set(f.Transactions), set(f.Features), set(f.Stubs), set(f.Pairs), set(f.PairStubs)}
}

// in describes the findings that the slice still holds, or is empty. Two transactions that were no longer joined may
// have been joined again by a later payment: if the slice was replaced more often than the request replaced it, such
// edges are counted as open, except edges that were counted already.
func (f found) in(s *lethe.Slice, at committed, counted func(edge lethe.Edge) bool) (what string, open int) {
	joined := false
	erased := fmt.Sprintf(" that the request of leaf %d has erased", f.of.leaf)
	if f.node(s, func(p lethe.Pseudonym, _ []float32) bool { return f.transactions[deletions.Commitment(f.salt, p)] }) {
		return "a transaction" + erased, 0
	}
	if len(f.features) > 0 && f.node(s, f.hasFeatures) {
		return "features" + erased, 0
	}
	for _, stub := range s.Stubs {
		if len(f.stubs)+len(f.pairStubs) == 0 {
			break
		}
		c := deletions.StubCommitment(f.salt, s.Nodes[stub.Owner], stub.Lambda)
		if f.stubs[c] {
			return "a stub for a transaction" + erased, 0
		}
		if f.pairStubs[c] {
			open++
		}
	}
	for _, edge := range s.Edges {
		if len(f.pairs) == 0 {
			break
		}
		if f.pairs[deletions.PairCommitment(f.salt, s.Nodes[edge.A], s.Nodes[edge.B])] {
			joined = true
			if !counted(edge) {
				open++
			}
		}
	}
	if joined = joined || open > 0; joined && at.before < f.of.foundAt {
		return "a payment" + erased, 0
	}
	return "", open
}

// node reports whether is holds for one of a slice's nodes with its row.
func (f found) node(s *lethe.Slice, is func(p lethe.Pseudonym, row []float32) bool) bool {
	for i, p := range s.Nodes {
		if is(p, s.Row(i)) {
			return true
		}
	}
	return false
}

// hasFeatures reports whether a row has a non-zero value in an erased column.
func (f found) hasFeatures(p lethe.Pseudonym, row []float32) bool {
	if !f.features[deletions.FeaturesCommitment(f.salt, p)] {
		return false
	}
	for k, v := range row {
		if v != 0 && f.features[deletions.FeatureCommitment(f.salt, p, k)] {
			return true
		}
	}
	return false
}
