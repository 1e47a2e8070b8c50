package challenge

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
)

// Opening opens the commitments of a request's leaf: with the salts it can be checked whether a
// slice holds one of the targets, but the targets cannot be derived without the slice.
type Opening struct {
	Request lethe.Digest
	// Salts are in the order of the commitments: to transactions, then to payments. The last is
	// the salt of the findings, if the log has a leaf for them.
	Salts []lethe.Digest
}

// request is a request of the log.
type request struct {
	leaf     int64
	at       translog.Request
	state    deletions.State
	replaced bool
	// earlier means that the secret of the pseudonyms was rotated since: the request commits to
	// other pseudonyms than slices hold now.
	earlier bool
	// found is the findings of its plan, or nil, in the leaf foundAt.
	found   *translog.Found
	foundAt int64
}

// salts is the number of salts that open its commitments.
func (q *request) salts() int {
	n := q.at.Count()
	if q.found != nil {
		n++
	}
	return n
}

// requests are the requests of a log, in its order.
type requests struct {
	all      []*request
	byDigest map[lethe.Digest]*request
}

func newRequests() *requests { return &requests{byDigest: make(map[lethe.Digest]*request)} }

// add adds a request. Requests are identified by their content: add returns the leaf of an earlier
// one with the same content, or -1.
func (r *requests) add(leaf int64, l translog.Request) (before int64) {
	before = -1
	if q := r.byDigest[l.Digest]; q != nil {
		before = q.leaf
	}
	q := &request{leaf: leaf, at: l, state: deletions.Received}
	r.all, r.byDigest[l.Digest] = append(r.all, q), q
	return before
}

// move applies a change of state, and reports whether the request exists.
func (r *requests) move(l translog.Transition) bool {
	q := r.byDigest[l.Request]
	if q == nil {
		return false
	}
	q.state = l.State
	switch l.State {
	case deletions.Swapped, deletions.Erased, deletions.Verified:
		q.replaced = true
	default:
	}
	return true
}

// find adds the findings of a plan, and reports whether the request exists and had none.
func (r *requests) find(leaf int64, l translog.Found) bool {
	q := r.byDigest[l.Request]
	if q == nil || q.found != nil {
		return false
	}
	q.found, q.foundAt = &l, leaf
	return true
}

// carriedOut returns the requests whose slices and models were replaced, according to the log: no
// slice may hold their targets any more.
func (v *View) carriedOut() []*request {
	return slices.DeleteFunc(slices.Clone(v.requests.all), func(q *request) bool { return !q.replaced })
}

// rotate marks all requests as made before a rotation of the secret.
func (r *requests) rotate() {
	for _, q := range r.all {
		q.earlier = q.earlier || q.replaced
	}
}

// earlier counts the requests that were carried out under a previous secret.
func (v *View) earlier() int {
	n := 0
	for _, q := range v.carriedOut() {
		if q.earlier {
			n++
		}
	}
	return n
}

// underWay counts the requests that are neither rejected nor carried out.
func (v *View) underWay() int {
	n := 0
	for _, q := range v.requests.all {
		if !q.replaced && !q.state.Final() {
			n++
		}
	}
	return n
}
