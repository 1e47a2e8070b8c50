package coordinator

import (
	"context"
	"errors"
	"fmt"

	"lethe/deletions"
	"lethe/metrics/events"
)

// Verification hands out the search for what is left, to be run beside the loop,
// and takes its verdict.
type Verification struct {
	states *states
	// search is the verification under way, or nil; handed says that it runs.
	search *Search
	handed bool
}

// Next returns the search that is to be run now, once, or nil. Its verdict
// goes to Conclude.
func (v *Verification) Next() *Search {
	if v.search == nil || v.handed {
		return nil
	}
	v.handed = true
	return v.search
}

// Conclude takes the outcome of a search into the ledger.
func (v *Verification) Conclude(ctx context.Context, verdict Verdict) error {
	v.search, v.states.dirty = nil, true
	if ctx.Err() != nil {
		// The process is stopping; the search begins again at the next start.
		return verdict.err
	}
	e, err := v.states.o.Ledger.Get(verdict.requestID)
	if err != nil || e.State != deletions.Verifying {
		return err
	}
	if verdict.err != nil || !verdict.found.clean() {
		v.states.o.Listener.ErasureVerificationFailed(events.ErasureVerificationFailed{})
		_, err := v.states.stop(ctx, e, deletions.Failed, v.failure(verdict))
		return err
	}
	e, err = v.states.o.Ledger.Transition(verdict.requestID, deletions.Verified, func(p *deletions.Progress) {
		p.Verification = &verdict.found.summary
	})
	if err != nil {
		return err
	}
	v.states.out.phaseDone(e, events.Verify, deletions.Verifying)
	v.states.out.phaseDone(e, events.Whole, deletions.Received)
	if _, err = v.states.verified(ctx, e); err != nil {
		return fmt.Errorf("request %s: %w", e.RequestID, err)
	}
	return nil
}

// failure is the code of a verification that did not succeed.
func (v *Verification) failure(verdict Verdict) deletions.FailureCode {
	code := deletions.FailedTimeout
	if verdict.err != nil && !errors.Is(verdict.err, errTimeUp) {
		code = deletions.FailedBroker
		v.states.o.Logger.Error("erasure: the search for what is left was cut short",
			"request_id", verdict.requestID, "error", verdict.err)
	}
	if verdict.found != nil && !verdict.found.clean() {
		code = deletions.FailedHits
		v.states.o.Logger.Error("erasure: something is left after the time to verify was up",
			"request_id", verdict.requestID, "hits", verdict.found.summary.Hits, "superseded", verdict.found.superseded,
			"kinds", verdict.found.kinds, "places", verdict.found.places)
	}
	return code
}
