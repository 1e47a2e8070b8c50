// Package batch has the requests that are carried out together, and the effects of requests on each other. Its
// functions are pure.
//
//	batch.go     requests that run together
//	outcomes.go  the outcomes of a request's targets, besides other requests
package batch

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
)

// Batch is the requests of one scope that run together and are in one state, in order of receipt.
type Batch struct {
	// Leader is the request whose id names the batch in commands and acknowledgements.
	Leader  string
	Members []deletions.Entry
}

// Of returns a request as a batch of its own.
func Of(e deletions.Entry) Batch { return Batch{e.RequestID, []deletions.Entry{e}} }

// Group groups the requests that have begun, the oldest batch first.
func Group(list []deletions.Entry) (out []Batch) {
	for _, e := range list {
		if !Begun(e) {
			continue
		}
		at := slices.IndexFunc(out, func(b Batch) bool {
			return b.Leader == e.Leader() && b.State() == e.State && b.Members[0].FailedIn == e.FailedIn
		})
		if at < 0 {
			out = append(out, Batch{Leader: e.Leader()})
			at = len(out) - 1
		}
		out[at].Members = append(out[at].Members, e)
	}
	return out
}

// Begun reports whether something may have been rewritten for a request.
func Begun(e deletions.Entry) bool {
	return !slices.Contains([]deletions.State{
		deletions.Received, deletions.Accepted, deletions.Rejected, deletions.Suppressed, deletions.Cancelled,
		deletions.Held,
	}, e.Stage())
}

// State is that of all members.
func (b Batch) State() deletions.State { return b.Members[0].State }

// HoldsUp reports whether no other batch may begin, because it would build on this one's output. Failed batches, which
// wait for a retry, and those being searched do not.
func (b Batch) HoldsUp() bool {
	state := b.State()
	return !state.Final() && state != deletions.Failed && state != deletions.Erased
}

// Attempts numbers the batch's commands: the highest number of its members.
func (b Batch) Attempts() (most int) {
	for _, e := range b.Members {
		most = max(most, e.Attempts)
	}
	return most
}

// IDs are the ids of the members.
func (b Batch) IDs() []string {
	out := make([]string, len(b.Members))
	for i, e := range b.Members {
		out[i] = e.RequestID
	}
	return out
}

// Where is the batch with only the members of which a condition holds.
func (b Batch) Where(holds func(deletions.Entry) bool) Batch {
	b.Members = slices.DeleteFunc(slices.Clone(b.Members), func(e deletions.Entry) bool { return !holds(e) })
	return b
}

// NotWithdrawn is the batch without the members whose records were withdrawn.
func (b Batch) NotWithdrawn() Batch {
	return b.Where(func(e deletions.Entry) bool { return !e.Progress.Withdrawn })
}

// With is the batch with newer entries in place of those of the same requests.
func (b Batch) With(newer []deletions.Entry) Batch {
	b.Members = slices.Clone(b.Members)
	for _, e := range newer {
		at := slices.IndexFunc(b.Members, func(old deletions.Entry) bool { return old.RequestID == e.RequestID })
		b.Members[at] = e
	}
	return b
}

// Targets are the distinct keyed hashes of all targets and of carriers of subjects.
func (b Batch) Targets() []lethe.Digest {
	return distinct(b.Members, func(e deletions.Entry) []lethe.Digest { return e.Suppressed() })
}

// Fingerprints are the distinct ones of all members.
func (b Batch) Fingerprints() []scan.Fingerprint {
	return distinct(b.Members, func(e deletions.Entry) []scan.Fingerprint { return e.Progress.Fingerprints })
}

// distinct lists the values of requests, each once.
func distinct[T comparable](list []deletions.Entry, of func(deletions.Entry) []T) (out []T) {
	known := make(map[T]bool)
	for _, e := range list {
		for _, one := range of(e) {
			if !known[one] {
				known[one] = true
				out = append(out, one)
			}
		}
	}
	return out
}

// Subjects are those of all members.
func (b Batch) Subjects() (out []lethe.SubjectUntil) {
	for _, e := range b.Members {
		out = append(out, e.Subjects...)
	}
	return out
}

// Redactions are those of all members.
func (b Batch) Redactions() (out []lethe.Redaction) {
	for _, e := range b.Members {
		out = append(out, e.Redactions()...)
	}
	return out
}

// Retrained are the shards to be retrained, ascending.
func (b Batch) Retrained() (out []lethe.ShardID) {
	for _, e := range b.Members {
		out = sortedset.Add(out, e.Progress.Retrained...)
	}
	return out
}

// Halves returns the new leader of each member once the batch is split. The old leader keeps its half.
func (b Batch) Halves() map[string]string {
	first, second := b.Members[:len(b.Members)/2], b.Members[len(b.Members)/2:]
	isLeader := func(e deletions.Entry) bool { return e.RequestID == b.Leader }
	if slices.ContainsFunc(second, isLeader) {
		first, second = second, first
	}
	leaders := make(map[string]string, len(b.Members))
	for _, e := range first {
		leaders[e.RequestID] = b.Leader
	}
	for _, e := range second {
		leaders[e.RequestID] = second[0].RequestID
	}
	return leaders
}
