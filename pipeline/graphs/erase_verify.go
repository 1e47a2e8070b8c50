package graphs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
)

const (
	// rollInterval is how often the logs are rolled while compaction is waited
	// for: Apache Kafka does not compact a segment that is still written to.
	rollInterval = 5 * time.Second
	// searchInterval is how long compaction is given between two searches.
	searchInterval = 700 * time.Millisecond
)

// verdict is the outcome of a verification.
type verdict struct {
	requestID string
	found     *found
	err       error
}

// startVerifying begins to search for what should be gone, beside the loop, as
// soon as the other roles have searched their folders. One request is verified
// at a time.
func (r *Role) startVerifying(ctx context.Context, e deletions.Entry) error {
	if r.checking != "" {
		return nil
	}
	others := scan.Summary{}
	for _, role := range []string{trainRole, scoreRole} {
		a, ok := r.ack(e, role, deletions.StepScanned)
		if !ok {
			return nil
		}
		others = others.Add(*a.Scan)
	}
	scanner, err := scan.NewScanner(r.o.Secret, e.Progress.Fingerprints)
	if err != nil {
		return err
	}
	s := &search{client: r.o.Client, scanner: scanner, dirs: []string{r.o.Dir, r.o.ReceiptsDir}}
	if r.o.BrokerDir != "" {
		s.dirs = append(s.dirs, r.o.BrokerDir)
	}
	r.checking = e.RequestID
	go func() {
		f, err := r.searchUntilClean(ctx, s)
		if f != nil {
			f.summary = f.summary.Add(others)
		}
		r.checked <- verdict{e.RequestID, f, err}
	}()
	return nil
}

// searchUntilClean searches until nothing is found or the time is up: deleting
// a record only asks the log's cleaner to remove it.
func (r *Role) searchUntilClean(ctx context.Context, s *search) (*found, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.VerifyTimeout)
	defer cancel()
	var rolled time.Time
	var last *found
	for {
		if time.Since(rolled) >= rollInterval {
			if err := r.o.Client.RollMarkers(ctx, bus.Topics()...); err != nil {
				return last, err
			}
			rolled = time.Now()
			if r.o.Compact != nil {
				if err := r.o.Compact(); err != nil {
					return last, fmt.Errorf("compact the embedded broker's log: %w", err)
				}
			}
		}
		select {
		case <-time.After(searchInterval):
		case <-ctx.Done():
			return last, ctx.Err()
		}
		f, err := s.run(ctx)
		if err != nil {
			return last, err
		}
		if last = f; f.clean() {
			return f, nil
		}
	}
}

// conclude takes the outcome of a verification into the ledger.
func (r *Role) conclude(ctx context.Context, v verdict) error {
	r.checking = ""
	if ctx.Err() != nil {
		// The process is stopping; the search begins again at the next start.
		return v.err
	}
	e, err := r.ledger.Get(v.requestID)
	if err != nil || e.State != deletions.Verifying {
		return err
	}
	if v.err != nil || !v.found.clean() {
		r.o.Listener.ErasureVerificationFailed(events.ErasureVerificationFailed{})
		code := deletions.FailedTimeout
		if v.err != nil && !errors.Is(v.err, context.DeadlineExceeded) {
			code = deletions.FailedBroker
			r.o.Logger.Error("erasure: the search for what is left was cut short", "request_id", v.requestID, "error", v.err)
		}
		if v.found != nil && (v.found.summary.Hits > 0 || v.found.superseded > 0) {
			code = deletions.FailedHits
			r.o.Logger.Error("erasure: something is left after the time to verify was up",
				"request_id", v.requestID, "hits", v.found.summary.Hits, "superseded", v.found.superseded,
				"kinds", v.found.kinds, "places", v.found.places)
		}
		return r.fail(ctx, e, code)
	}
	e, err = r.ledger.Transition(v.requestID, deletions.Verified, func(p *deletions.Progress) {
		p.Verification = &v.found.summary
	})
	if err != nil {
		return err
	}
	r.phaseDone(e, events.Verify, deletions.Verifying)
	r.phaseDone(e, events.Whole, deletions.Received)
	if err := r.issueReceipt(ctx, e); err != nil {
		return fmt.Errorf("request %s: receipt: %w", e.RequestID, err)
	}
	return nil
}

// tidy deletes the order and the acknowledgements of a request that is done.
func (r *Role) tidy(ctx context.Context, requestID string) error {
	records := []ingest.Outgoing{{Key: orderKey(requestID)}}
	if known := r.acks[requestID]; known != nil {
		for _, a := range known.byStep {
			records = append(records, ingest.Outgoing{Key: []byte(a.Key())})
		}
	}
	delete(r.acks, requestID)
	return r.o.Client.Write(ctx, bus.ErasureStatus, records)
}
