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

// Verification hands out searches for another goroutine and receives their verdicts.
type Verification struct {
	states *states
	// search is the current search, or nil; handed says that it runs.
	search  *Search
	handed  bool
	verdict *Verdict
	// first is the current search for records to be withdrawn, or nil; located is the verdict of the last.
	first       *Search
	firstHanded bool
	located     *Verdict
	looked      looked
	// barrier is the name of the barrier published after the verdict. passed says that it was read back, so that
	// everyone who joined before is known; unsaid that it is to be published.
	barrier        string
	passed, unsaid bool
	// purged are the requests deleted from erasures.v1.
	purged map[string]bool
}

// Next returns the search to run now, once, or nil. Pass its verdict to Conclude.
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

// Conclude receives a verdict. The next Advance uses it.
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
		// The process stops; the search begins again at the start.
		v.search, v.barrier = nil, ""
		return verdict.err
	}
	v.verdict = &verdict
	return nil
}

// locate returns the records to be withdrawn for a batch, once found.
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

// begin prepares the search for some requests.
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

// conclude ends the searched requests of a batch, or their try, once all roles have searched.
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
	// The others are next.
	v.states.dirty = true
	return v.states.verified(ctx, sought)
}

// fail ends the try of the requests with findings. The others are searched without them.
func (v *Verification) fail(
	ctx context.Context, b batch, search *Search, holding batch, verdict Verdict, others int,
) (batch, error) {
	naming, err := v.naming(holding.members)
	if err != nil {
		return b, err
	}
	holding.members = slices.DeleteFunc(slices.Clone(holding.members), func(e deletions.Entry) bool {
		// The finding may be the other request, or one held since.
		return slices.ContainsFunc(naming[e.RequestID], func(other deletions.Entry) bool {
			return !search.held[other.RequestID]
		})
	})
	v.states.dirty = true
	if len(holding.members) == 0 {
		return b, nil
	}
	if others > 0 {
		v.states.splits.mark(holding)
	}
	for range holding.members {
		v.states.o.Listener.ErasureVerificationFailed(events.ErasureVerificationFailed{})
	}
	return v.states.stop(ctx, holding, deletions.Failed, v.failure(verdict, others))
}

// heldRequests are, by request, the held requests whose own records name something of it.
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

// searched lists what was searched, by place.
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
