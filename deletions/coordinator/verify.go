package coordinator

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/batch"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/internal/patientfs"
	"lethe/metrics/events"
)

// verifying is the last step of batches: a search of everything.
type verifying struct {
	*core
	search      *Verification
	withdrawing *withdrawing
	scrubs      *scrubs
	splits      splits
	holds       *holds
	signed      signatures
	receipts    receipts
}

// erasedEverywhere tombstones records of unknown keys, then has everything searched, in another goroutine, and ends
// the requests when no role has found anything. One search runs at a time. A request waits while another one's
// record in erasures.v1 names one of its targets, unless that one is held.
func (v *verifying) erasedEverywhere(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	if v.search.verifying.search != nil {
		return v.conclude(ctx, b)
	}
	b, done, err := v.withdrawing.withdrawn(ctx, b)
	if err != nil || !done {
		return b, err
	}
	heldUp := b.NotWithdrawn()
	if len(heldUp.Members) > 0 { // the others are searched for without them
		v.dirty = true
		return v.stop(ctx, heldUp, deletions.Failed, deletions.FailedUnreadable)
	}
	if err := v.withdrawing.purge(ctx, b); err != nil {
		return b, err
	}
	if b, err = v.withdrawing.spare(b); err != nil {
		return b, err
	}
	others, err := v.naming(b)
	if err != nil {
		return b, err
	}
	ready := b.Where(func(e deletions.Entry) bool {
		// That of no held request will leave erasures.v1 by itself.
		return !slices.ContainsFunc(others[e.RequestID], func(other deletions.Entry) bool {
			return other.State != deletions.Held
		})
	})
	if len(ready.Members) == 0 {
		return b, nil
	}
	if made, err := v.scrubs.make(ctx, b); err != nil || !made {
		return b, err
	}
	return b, v.search.begin(ready)
}

// conclude ends the searched requests of a batch, or their try, once all roles have searched.
func (v *verifying) conclude(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	sought := b.Where(func(e deletions.Entry) bool {
		return slices.Contains(v.search.verifying.search.RequestIDs, e.RequestID)
	})
	if v.search.verifying.verdict == nil || len(sought.Members) == 0 {
		return b, nil
	}
	verdict := *v.search.verifying.verdict
	failed := verdict.Err != nil || !verdict.Found.Clean() || len(verdict.Found.Unreadable()) > 0
	if waits, err := v.search.awaitsBarrier(ctx, b); err != nil || waits && !failed {
		return b, err
	}
	others, answered := v.acks.Searched(b.Leader, b.Attempts(), deletions.StepScanned)
	if !answered && !failed {
		return b, nil
	}
	ended := v.search.verifying.search
	v.search.verifying, v.search.barrier = searching{}, ""
	if failed || others.Hits > 0 {
		return v.fail(ctx, b, ended, holding(sought, ended, verdict, others), verdict, others.Hits)
	}
	all, _ := verdict.Found.Total()
	all = all.Add(others)
	left, err := v.stubsLeft(sought)
	if err != nil {
		return b, err
	}
	held, err := v.heldRequests(sought, ended, verdict.Found)
	if err != nil {
		return b, err
	}
	searched := searchedBy(v.acks, b, verdict.Found)
	members, err := v.o.Ledger.TransitionAll(sought.IDs(), deletions.Verified, func(i int, e *deletions.Entry) {
		e.Progress.Verification, e.Progress.Searched, e.Progress.HeldRequests = &all, searched, held[i]
		e.Progress.Gone, e.Progress.StubsLeft = v.acks.Gone(), left[i]
	})
	if err != nil {
		return b, err
	}
	sought.Members = members
	v.out.phaseDone(sought, events.Verify, deletions.Erased)
	v.out.phaseDone(sought, events.Whole, deletions.Received)
	if len(members) == len(b.Members) {
		delete(v.scrubs.made, b.Leader)
	}
	// The others are next.
	v.dirty = true
	return v.receipts.verified(ctx, sought)
}

// holding are the requests with findings; all if the findings do not show which.
func holding(sought batch.Batch, ended *search.Search, verdict search.Verdict, others scan.Summary) batch.Batch {
	if others.Hits > 0 || verdict.Found == nil || !errors.Is(verdict.Err, search.ErrTimeUp) {
		return sought
	}
	if _, superseded := verdict.Found.Total(); superseded > 0 {
		return sought
	}
	if own := sought.Where(hasAny(ended, verdict.Found.By)); len(own.Members) > 0 {
		return own
	}
	return sought
}

// hasAny matches requests with one of the fingerprints of a search that are given by index.
func hasAny(of *search.Search, by map[int]bool) func(e deletions.Entry) bool {
	found := make(map[scan.MAC]bool)
	for at := range by {
		found[of.Prints[at].MAC] = true
	}
	return func(e deletions.Entry) bool {
		return slices.ContainsFunc(e.Progress.Fingerprints, func(f scan.Fingerprint) bool { return found[f.MAC] })
	}
}

// fail ends the try of the requests with findings. The others are searched without them.
func (v *verifying) fail(
	ctx context.Context, b batch.Batch, ended *search.Search, holding batch.Batch, verdict search.Verdict, others int,
) (batch.Batch, error) {
	naming, err := v.naming(holding)
	if err != nil {
		return b, err
	}
	holding = holding.Where(func(e deletions.Entry) bool {
		// The finding may be the other request, or one held since.
		return !slices.ContainsFunc(naming[e.RequestID], func(other deletions.Entry) bool {
			return !ended.Held[other.RequestID]
		})
	})
	v.dirty = true
	if len(holding.Members) == 0 {
		return b, nil
	}
	if others > 0 {
		v.splits.mark(holding)
	}
	for range holding.Members {
		v.o.Listener(events.ErasureVerificationFailed{})
	}
	return v.stop(ctx, holding, deletions.Failed, v.failure(verdict, others))
}

func (v *verifying) failure(verdict search.Verdict, others int) deletions.FailureCode {
	code := deletions.FailedTimeout
	first := verdict.RequestIDs[0]
	log := v.o.Logger.With("request_id", first, "requests", len(verdict.RequestIDs))
	if others > 0 {
		code = deletions.FailedHits
		log.Error("erasure: another role's folder still holds something", "hits", others)
	}
	if verdict.Err != nil && !errors.Is(verdict.Err, search.ErrTimeUp) {
		code = deletions.FailedBroker
		if patientfs.MayPass(verdict.Err) {
			code = deletions.FailedDisk
		}
		log.Error("erasure: the search for what is left was cut short", "error", verdict.Err)
	}
	if verdict.Err == nil && others == 0 && len(verdict.Found.Unreadable()) > 0 {
		code = deletions.FailedUnreadable
		for _, at := range verdict.Found.Unreadable() {
			at.Report(v.o.Logger, first)
		}
	}
	if verdict.Found != nil && !verdict.Found.Clean() {
		code = deletions.FailedHits
		all, superseded := verdict.Found.Total()
		log.Error("erasure: something is left after the time to verify was up", "hits", all.Hits, "superseded", superseded,
			"kinds", verdict.Found.Kinds, "places", verdict.Found.Dirty(), "files", verdict.Found.Files)
		for at, offset := range verdict.Found.Open {
			v.o.Logger.Error("erasure: an open transaction keeps records from being read and removed: end it, or wait "+
				"for transaction.timeout.ms of its producer", "request_id", first,
				"topic", at.Topic, "partition", at.Partition, "first_offset", offset)
		}
	}
	return code
}

// heldRequests are, by request, the held requests whose own records name something of it.
func (v *verifying) heldRequests(
	b batch.Batch, ended *search.Search, found *search.Findings,
) ([][]deletions.HeldRequest, error) {
	out := make([][]deletions.HeldRequest, len(b.Members))
	for _, id := range slices.Sorted(maps.Keys(found.Named)) {
		held, err := v.o.Ledger.Get(id)
		if err != nil {
			return nil, err
		}
		holds, err := v.holds.of(held)
		if err != nil {
			return nil, err
		}
		one := deletions.HeldRequest{
			RequestID: id, RequestDigest: held.Digest, Holds: make([]string, len(holds)), Records: found.Named[id].Records,
			Unsigned: v.signed.lacks(held),
		}
		for i, hold := range holds {
			one.Holds[i] = hold.Name
		}
		isNamed := hasAny(ended, found.Named[id].By)
		for i, e := range b.Members {
			if isNamed(e) {
				out[i] = append(out[i], one)
			}
		}
	}
	return out, nil
}

// searchedBy lists the results of the searches, by place.
func searchedBy(a *acks.Acks, b batch.Batch, found *search.Findings) (out []deletions.PlaceSearch) {
	for _, p := range found.Places {
		out = append(out, *p)
	}
	for _, role := range a.Holders() {
		for _, ack := range a.All(b.Leader, b.Attempts(), role, deletions.StepScanned) {
			out = append(out, deletions.PlaceSearch{Place: role, Instance: ack.Instance, Summary: *ack.Scan})
		}
	}
	return out
}

// stubsLeft counts, for requests at scope shard, the stubs for their records in slices of other shards that were not
// replaced since.
func (v *verifying) stubsLeft(b batch.Batch) ([]*int, error) {
	left := make([]*int, len(b.Members))
	for i, e := range b.Members {
		if e.Progress.StubsLeft == nil {
			continue
		}
		refs := make([]deletions.SliceRef, len(e.Progress.KeptStubs))
		for at, kept := range e.Progress.KeptStubs {
			refs[at] = kept.SliceRef
		}
		stands, err := v.o.Graphs.Outdated(refs)
		if err != nil {
			return nil, err
		}
		left[i] = new(int)
		for at, kept := range e.Progress.KeptStubs {
			if stands[at] {
				*left[i] += kept.Stubs
			}
		}
	}
	return left, nil
}
