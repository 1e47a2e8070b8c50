package coordinator

import (
	"context"
	"errors"
	"fmt"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/metrics/events"
)

// verifying makes a search for what should be gone, to be run beside the loop, as
// soon as the other roles have searched their folders. One request is verified at
// a time.
func (c *Coordinator) verifying(_ context.Context, e deletions.Entry) (deletions.Entry, error) {
	if c.search != nil {
		return e, nil
	}
	var others scan.Summary
	for _, role := range []string{trainRole, scoreRole} {
		a, ok := c.acks.of(e, role, deletions.StepScanned)
		if !ok {
			return e, nil
		}
		others = others.Add(*a.Scan)
	}
	scanner, err := scan.NewScanner(c.o.Secret, e.Progress.Fingerprints)
	if err != nil {
		return e, err
	}
	c.search, c.handed = &Search{
		requestID: e.RequestID, scanner: scanner, others: others,
		graphs: c.graphs, bus: c.o.Bus, clock: c.o.Clock, compact: c.o.Compact,
		timeout: c.o.VerifyTimeout,
	}, false
	for _, dir := range []string{c.o.ReceiptsDir, c.o.BrokerDir} {
		if dir != "" {
			c.search.folders = append(c.search.folders, dir)
		}
	}
	return e, nil
}

// NextSearch returns the search that is to be run now, once, or nil. Its verdict
// goes to Conclude.
func (c *Coordinator) NextSearch() *Search {
	if c.search == nil || c.handed {
		return nil
	}
	c.handed = true
	return c.search
}

// Conclude takes the outcome of a search into the ledger.
func (c *Coordinator) Conclude(ctx context.Context, v Verdict) error {
	c.search, c.dirty = nil, true
	if ctx.Err() != nil {
		// The process is stopping; the search begins again at the next start.
		return v.err
	}
	e, err := c.ledger.Get(v.requestID)
	if err != nil || e.State != deletions.Verifying {
		return err
	}
	if v.err != nil || !v.found.clean() {
		c.o.Listener.ErasureVerificationFailed(events.ErasureVerificationFailed{})
		_, err := c.stop(ctx, e, deletions.Failed, c.failure(v))
		return err
	}
	e, err = c.ledger.Transition(v.requestID, deletions.Verified, func(p *deletions.Progress) {
		p.Verification = &v.found.summary
	})
	if err != nil {
		return err
	}
	c.out.phaseDone(e, events.Verify, deletions.Verifying)
	c.out.phaseDone(e, events.Whole, deletions.Received)
	if _, err = c.verified(ctx, e); err != nil {
		return fmt.Errorf("request %s: %w", e.RequestID, err)
	}
	return nil
}

// failure is the code of a verification that did not succeed.
func (c *Coordinator) failure(v Verdict) deletions.FailureCode {
	code := deletions.FailedTimeout
	if v.err != nil && !errors.Is(v.err, errTimeUp) {
		code = deletions.FailedBroker
		c.o.Logger.Error("erasure: the search for what is left was cut short", "request_id", v.requestID, "error", v.err)
	}
	if v.found != nil && !v.found.clean() {
		code = deletions.FailedHits
		c.o.Logger.Error("erasure: something is left after the time to verify was up",
			"request_id", v.requestID, "hits", v.found.summary.Hits, "superseded", v.found.superseded,
			"kinds", v.found.kinds, "places", v.found.places)
	}
	return code
}
