package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/late"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
)

// withdrawing removes from the topics the records whose keys the graphs do not know.
type withdrawing struct {
	*core
	search *Verification
	// purged are the requests deleted from erasures.v1.
	purged map[string]bool
}

// withdrawn searches the topics for the targets of requests that are not withdrawn yet, and withdraws the findings. It
// reports whether it is done. The record of a withdrawn request may have left erasures.v1 already: after a restart its
// targets are unknown.
func (w *withdrawing) withdrawn(ctx context.Context, b batch.Batch) (_ batch.Batch, done bool, err error) {
	rest := b.NotWithdrawn()
	if len(rest.Members) == 0 {
		return b, true, nil
	}
	requests, known := w.jobs.targets(rest)
	if !known {
		return b, false, nil
	}
	where, err := w.search.locate(rest)
	if err != nil || where == nil {
		return b, false, err
	}
	if rest, err = w.withdraw(ctx, rest, requests, where); err != nil {
		return b, false, err
	}
	count := func(t bus.Topic) (int, error) { return w.o.Bus.Partitions(ctx, t) }
	heldUp, err := where.HeldUp(requests, w.o.Limits.Normalise, count)
	if err != nil {
		return b, false, err
	}
	for i, at := range heldUp {
		at.Report(w.o.Logger, rest.Members[i].RequestID)
	}
	if rest, err = w.update(rest, func(i int, p *deletions.Progress) {
		_, held := heldUp[i]
		p.Withdrawn = !held
	}); err != nil {
		return b, false, err
	}
	// Findings and outcomes are known now.
	if err := w.out.announce(ctx, rest.Members...); err != nil {
		return b, false, err
	}
	return b.With(rest.Members), true, nil
}

// withdraw removes the records found in sources, dead letters, predictions and reasons. Findings and outcomes are
// stored and handed over first: a repeated step finds less.
func (w *withdrawing) withdraw(
	ctx context.Context, b batch.Batch, requests [][]lethe.Target, where *search.Located,
) (_ batch.Batch, err error) {
	held, dropped := make([][]bool, len(requests)), make([][]map[scan.MAC]bool, len(requests))
	for i, targets := range requests {
		if dropped[i], err = w.dropped(b.Members[i].RequestID); err != nil {
			return b, err
		}
		if held[i], err = w.namedBy(targets, where.Sources.By, where.Letters.By, dropped[i]); err != nil {
			return b, err
		}
	}
	before, err := w.o.Ledger.Where(b.Sharing())
	if err != nil {
		return b, err
	}
	if b, err = w.update(b, func(i int, p *deletions.Progress) {
		count := func(by []map[scan.MAC]bool) int { return search.Count(by, p.Fingerprints) }
		ofOthers := count(where.Sources.OfOthers)
		c := &p.Counts
		c.SourceRecords = max(c.SourceRecords, count(where.Sources.By)-ofOthers, count(dropped[i]))
		c.OfOthers = max(c.OfOthers, ofOthers)
		c.DeadLetters = max(c.DeadLetters, count(where.Letters.By))
		c.Predictions = max(c.Predictions, count(where.Predictions.By))
		c.Reasons = max(c.Reasons, count(where.Reasons.By))
		batch.MarkErased(p, w.o.Secret, requests[i], held[i])
		batch.Decide(p, batch.Earlier(before, b.Members[i]))
		// Members are decided in order of receipt.
		for at := range before {
			if before[at].RequestID == b.Members[i].RequestID {
				before[at].Progress.Outcomes = p.Outcomes
			}
		}
	}); err != nil {
		return b, err
	}
	if err := w.out.handOver(ctx, b.Members); err != nil {
		return b, err
	}
	if err := w.askForLate(ctx, b, where.Late); err != nil {
		return b, err
	}
	for _, found := range []search.Remains{where.Sources, where.Letters, where.Predictions, where.Reasons} {
		err = errors.Join(err, w.records.Remove(ctx, found, where.Looked))
	}
	return b, err
}

// dropped are a request's records dropped on arrival, as one.
func (w *withdrawing) dropped(requestID string) ([]map[scan.MAC]bool, error) {
	e, err := w.o.Ledger.Get(requestID)
	by := make(map[scan.MAC]bool, len(e.Progress.Dropped))
	for _, mac := range e.Progress.Dropped {
		by[mac] = true
	}
	return []map[scan.MAC]bool{by}, err
}

// namedBy reports for each target whether a finding has one of its fingerprints.
func (w *withdrawing) namedBy(targets []lethe.Target, found ...[]map[scan.MAC]bool) ([]bool, error) {
	out, all := make([]bool, len(targets)), slices.Concat(found...)
	for i, t := range targets {
		own, _, err := scan.TargetFingerprints(w.o.Secret, t)
		if err != nil {
			return nil, err
		}
		out[i] = search.Count(all, own) > 0
	}
	return out, nil
}

// askForLate requests the carriers of a batch's subjects in records rejected as late, unless the batch erases them
// already.
func (w *withdrawing) askForLate(ctx context.Context, b batch.Batch, refused []ingest.Record) error {
	erased := b.Targets()
	var carriers []late.Carrier
	for _, rec := range refused {
		event, err := ingest.DecodeTransactions(rec, w.o.Limits)
		c := late.CarrierOf(event)
		if err == nil && len(c.Subjects) > 0 && !slices.Contains(erased, w.o.Secret.Suppressed(c.Target)) {
			carriers = append(carriers, c)
		}
	}
	requests := late.Requests{
		Secret: w.o.Secret, Ledger: w.o.Ledger, Most: w.o.Limits.MaxErasureNodes, Out: w.o.Bus, Now: w.now,
	}
	if err := requests.Ask(ctx, carriers); err != nil {
		return fmt.Errorf("ask for late records of subjects: %w", err)
	}
	return nil
}

// purge deletes the records of requests that are no longer needed, once per process. Standbys read targets there, so
// all have acknowledged before.
func (w *withdrawing) purge(ctx context.Context, b batch.Batch) error {
	due := b.Where(func(e deletions.Entry) bool { return !w.purged[e.RequestID] }).IDs()
	if len(due) == 0 {
		return nil
	}
	if err := w.out.purge(ctx, due...); err != nil {
		return err
	}
	for _, id := range due {
		w.purged[id] = true
		w.records.Forget(id)
	}
	return w.jobs.done(b)
}

// spare drops features that another transaction has by now from the search, and records that.
func (w *withdrawing) spare(b batch.Batch) (batch.Batch, error) {
	var contents []scan.MAC
	for _, e := range b.Members {
		for _, row := range e.Progress.Rows {
			contents = append(contents, row.Content)
		}
	}
	if len(contents) == 0 {
		return b, nil
	}
	alike, err := w.o.Graphs.Alike(contents)
	if err != nil || !slices.Contains(alike, true) {
		return b, err
	}
	has := make(map[scan.MAC]bool)
	for i, content := range contents {
		has[content] = alike[i]
	}
	w.records.Changed()
	return w.update(b, func(_ int, p *deletions.Progress) {
		for _, row := range p.Rows {
			if !has[row.Content] {
				continue
			}
			p.NotSearched = sortedset.Add(p.NotSearched, scan.KindFeatures, scan.KindFeaturesText)
			p.Fingerprints = slices.DeleteFunc(p.Fingerprints, func(f scan.Fingerprint) bool {
				return search.IsFeatures(f.Kind) && slices.Contains(row.Forms, f.MAC)
			})
		}
		p.Rows = slices.DeleteFunc(p.Rows, func(row deletions.RowForms) bool { return has[row.Content] })
	})
}
