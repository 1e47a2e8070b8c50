package coordinator

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/internal/patientfs"
	"lethe/metrics/events"
)

// Verification hands out the search for what is left, to be run beside the loop,
// and takes its verdict.
type Verification struct {
	states *states
	// search is the verification under way, or nil; handed says that it runs.
	search *Search
	handed bool
	// verdict is its outcome, once it has ended.
	verdict *Verdict
	// first is the search under way for records that are to be withdrawn, or nil;
	// firstHanded says that it runs. located is the outcome of the last one.
	first       *Search
	firstHanded bool
	located     *Verdict
	// looked are the records that it has looked at.
	looked looked
	// barrier is the name of the one that is sent once the verdict is there, or empty. passed says
	// that it has come back: whoever said before it that he shares a role is known; unsaid that it is to be sent.
	barrier        string
	passed, unsaid bool
	// purged are the requests that were deleted from erasures.v1.
	purged map[string]bool
}

// Next returns the search that is to be run now, once, or nil. Its verdict
// goes to Conclude.
func (v *Verification) Next() *Search {
	if v.first != nil && !v.firstHanded {
		v.firstHanded = true
		return v.first
	}
	if v.search == nil || v.handed {
		return nil
	}
	v.handed = true
	return v.search
}

// Conclude takes the outcome of a search. The request it was for goes on with it in
// the next Advance.
func (v *Verification) Conclude(ctx context.Context, verdict Verdict) error {
	v.states.dirty = true
	if verdict.located != nil {
		v.first, v.located = nil, &verdict
		if verdict.err == nil {
			v.looked = verdict.located.looked
		}
		return verdict.err
	}
	if ctx.Err() != nil {
		// The process is stopping; the search begins again at the next start.
		v.search, v.barrier = nil, ""
		return verdict.err
	}
	v.verdict = &verdict
	return nil
}

// locate returns where records lie that hold what a batch erases, once that was looked
// for.
func (v *Verification) locate(b batch) (*located, error) {
	if v.located != nil && slices.Equal(v.located.requestIDs, b.ids()) {
		found := v.located.located
		v.located = nil
		return found, nil
	}
	if v.first != nil {
		return nil, nil
	}
	prints := b.fingerprints()
	scanner, err := v.states.recordScanner(prints)
	if err != nil {
		return nil, err
	}
	v.first, v.firstHanded = &Search{
		requestIDs: b.ids(), prints: prints, scanner: scanner, secret: v.states.o.Secret, locates: true,
		taken: v.states.o.Notes.Taken(),
	}, false
	return nil, nil
}

// begin has a search handed out for what some requests erased, all together.
func (v *Verification) begin(list []deletions.Entry) error {
	all := batch{members: list}
	prints := all.fingerprints()
	scanner, err := v.states.recordScanner(prints)
	if err != nil {
		return err
	}
	waiting, err := v.states.o.Ledger.List(deletions.Held)
	if err != nil {
		return err
	}
	v.search = &Search{
		requestIDs: all.ids(), prints: prints, scanner: scanner, timeout: v.states.o.VerifyTimeout,
		held: make(map[string]bool),
	}
	for _, e := range waiting {
		v.search.held[e.RequestID] = true
	}
	if v.looked.serves(prints) {
		v.search.looked = v.looked
	}
	v.handed, v.verdict = false, nil
	return nil
}

// conclude ends those requests of a batch, or their try, that were searched for, once
// everything was.
func (v *Verification) conclude(ctx context.Context, b batch) (batch, error) {
	sought := b
	sought.members = slices.DeleteFunc(slices.Clone(b.members), func(e deletions.Entry) bool {
		return !slices.Contains(v.search.requestIDs, e.RequestID)
	})
	if v.verdict == nil || len(sought.members) == 0 {
		return b, nil
	}
	search, verdict, failed := v.search, *v.verdict, v.verdict.err != nil || !v.verdict.found.clean() ||
		len(v.verdict.found.anybodys()) > 0
	if waits, err := v.awaitsBarrier(ctx, b); err != nil || waits && !failed {
		return b, err
	}
	others, answered := v.states.acks.searchedBy(b, deletions.StepScanned)
	if !answered && !failed {
		return b, nil
	}
	v.search, v.verdict, v.barrier = nil, nil, ""
	if failed || others.Hits > 0 {
		return v.fail(ctx, b, search, search.holding(sought, verdict, others), verdict, others.Hits)
	}
	searched := v.searched(b, verdict.found)
	all, _ := verdict.found.total()
	all = all.Add(others)
	left, err := v.stubsLeft(sought)
	if err != nil {
		return b, err
	}
	held, err := v.heldRequests(sought, search, verdict.found)
	if err != nil {
		return b, err
	}
	members, err := v.states.o.Ledger.TransitionAll(sought.ids(), deletions.Verified, func(i int, e *deletions.Entry) {
		e.Progress.Verification, e.Progress.Searched, e.Progress.HeldRequests = &all, searched, held[i]
		e.Progress.Gone, e.Progress.StubsLeft = v.states.acks.gone(), left[i]
	})
	if err != nil {
		return b, err
	}
	sought.members = members
	v.states.out.phaseDone(sought, events.Verify, deletions.Erased)
	v.states.out.phaseDone(sought, events.Whole, deletions.Received)
	if len(members) == len(b.members) {
		delete(v.states.scrubs.made, b.leader)
	}
	// Those that were not searched for have their turn next.
	v.states.dirty = true
	return v.states.verified(ctx, sought)
}

// fail ends the try of those requests of which something was found. The others of the
// batch are searched for without them.
func (v *Verification) fail(
	ctx context.Context, b batch, search *Search, holding batch, verdict Verdict, others int,
) (batch, error) {
	naming, err := v.naming(holding.members)
	if err != nil {
		return b, err
	}
	holding.members = slices.DeleteFunc(slices.Clone(holding.members), func(e deletions.Entry) bool {
		// What was found may be the other request, or one that is held since.
		return slices.ContainsFunc(naming[e.RequestID], func(other deletions.Entry) bool {
			return !search.held[other.RequestID]
		})
	})
	v.states.dirty = true
	if len(holding.members) == 0 {
		return b, nil
	}
	if others > 0 {
		v.states.splits.note(holding)
	}
	for range holding.members {
		v.states.o.Listener.ErasureVerificationFailed(events.ErasureVerificationFailed{})
	}
	return v.states.stop(ctx, holding, deletions.Failed, v.failure(verdict, others))
}

// heldRequests are, for each request of a batch, those that wait for a hold and whose own records
// name something of it.
func (v *Verification) heldRequests(b batch, search *Search, found *findings) ([][]deletions.HeldRequest, error) {
	out := make([][]deletions.HeldRequest, len(b.members))
	for _, id := range slices.Sorted(maps.Keys(found.named)) {
		held, err := v.states.o.Ledger.Get(id)
		if err != nil {
			return nil, err
		}
		names, err := v.states.holds.of(held)
		if err != nil {
			return nil, err
		}
		by := make(map[scan.MAC]bool)
		for at := range found.named[id].by {
			by[search.prints[at].MAC] = true
		}
		for i, e := range b.members {
			if slices.ContainsFunc(e.Progress.Fingerprints, func(f scan.Fingerprint) bool { return by[f.MAC] }) {
				out[i] = append(out[i], deletions.HeldRequest{
					RequestID: id, RequestDigest: held.Digest, Holds: names, Records: found.named[id].records,
					Unsigned: v.states.signed.lacks(held),
				})
			}
		}
	}
	return out, nil
}

// searched lists what was searched, by place: topics, folders, and the folders of the
// other roles.
func (v *Verification) searched(b batch, found *findings) (out []deletions.PlaceSearch) {
	for _, p := range found.places {
		out = append(out, *p)
	}
	for _, role := range v.states.acks.holders() {
		for _, a := range v.states.acks.all(b.leader, b.attempts(), role, deletions.StepScanned) {
			out = append(out, deletions.PlaceSearch{Place: role, Instance: a.Instance, Summary: *a.Scan})
		}
	}
	return out
}

// failure is the code of a verification that did not succeed.
func (v *Verification) failure(verdict Verdict, others int) deletions.FailureCode {
	code := deletions.FailedTimeout
	if others > 0 {
		code = deletions.FailedHits
		v.states.o.Logger.Error("erasure: another role's folder still holds something",
			"request_id", verdict.requestIDs[0], "requests", len(verdict.requestIDs), "hits", others)
	}
	if verdict.err != nil && !errors.Is(verdict.err, errTimeUp) {
		code = deletions.FailedBroker
		if patientfs.MayPass(verdict.err) {
			code = deletions.FailedDisk
		}
		v.states.o.Logger.Error("erasure: the search for what is left was cut short",
			"request_id", verdict.requestIDs[0], "requests", len(verdict.requestIDs), "error", verdict.err)
	}
	if verdict.err == nil && others == 0 && len(verdict.found.anybodys()) > 0 {
		code = deletions.FailedUnreadable
		for _, at := range verdict.found.anybodys() {
			at.report(v.states.o.Logger, verdict.requestIDs[0])
		}
	}
	if verdict.found != nil && !verdict.found.clean() {
		code = deletions.FailedHits
		all, superseded := verdict.found.total()
		v.states.o.Logger.Error("erasure: something is left after the time to verify was up",
			"request_id", verdict.requestIDs[0], "requests", len(verdict.requestIDs), "hits", all.Hits, "superseded", superseded,
			"kinds", verdict.found.kinds, "places", verdict.found.dirty())
		for at, first := range verdict.found.open {
			v.states.o.Logger.Error("erasure: an open transaction keeps records from being read and removed: end it, or wait "+
				"for transaction.timeout.ms of its producer", "request_id", verdict.requestIDs[0],
				"topic", at.Topic, "partition", at.Partition, "first_offset", first)
		}
	}
	return code
}
