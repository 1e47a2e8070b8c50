package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/late"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Records are withdrawn twice: at once those whose keys the graphs know, and after the search of the topics all
// others.

// knows stores the record keys of a first plan, in memory. A later plan may lack some.
func (n *Erased) knows(requestID string, before deletions.Progress, plan Plan) {
	if before.Counts.Held == 0 && len(before.Timesteps) == 0 {
		n.named[requestID] = plan.Records
	}
}

// knowsAll reports whether the record keys of all targets are known.
func (n *Erased) knowsAll(b batch) bool {
	return !slices.ContainsFunc(b.members, func(e deletions.Entry) bool {
		// Records with erased features must be read.
		elsewhere := func(o deletions.TargetOutcome) bool {
			return o.Outcome != deletions.OutcomeErased || o.Kind == lethe.FeaturesTarget
		}
		return len(n.named[e.RequestID]) == 0 || slices.ContainsFunc(e.Progress.Outcomes, elsewhere)
	})
}

// recordDropped records which open requests a dropped record belongs to, before it is withdrawn: it was held when
// requested.
func (n *Erased) recordDropped(ctx context.Context, in bus.Batch, positions []int) error {
	if topic := in.Source.Topic; len(positions) == 0 || topic != bus.Transactions && topic != bus.Labels {
		return nil
	}
	open, err := n.ledger.Where(func(e *deletions.Entry) bool {
		return !e.State.Final() && e.Suppresses() && !e.Progress.Withdrawn
	})
	if err != nil {
		return err
	}
	prints := batch{members: open}.fingerprints()
	if len(prints) == 0 {
		return nil
	}
	scanner, err := scan.NewRecordScanner(n.secret, n.names, prints)
	if err != nil {
		return err
	}
	found := make(map[scan.MAC]bool)
	for _, at := range positions {
		for _, h := range hitsIn(scanner, in.Records[at]) {
			found[prints[h.Fingerprint].MAC] = true
		}
	}
	var changed []deletions.Entry
	for _, e := range open {
		fresh := fresh(e.Progress, found)
		if len(fresh) == 0 {
			continue
		}
		e, err := n.ledger.Update(e.RequestID, func(p *deletions.Progress) {
			p.Dropped = append(p.Dropped, fresh...)
		})
		if err != nil {
			return err
		}
		changed = append(changed, e)
	}
	return n.out.handOver(ctx, changed)
}

// fresh are a request's fingerprints found for the first time.
func fresh(p deletions.Progress, found map[scan.MAC]bool) (list []scan.MAC) {
	for _, f := range p.Fingerprints {
		if found[f.MAC] && !slices.Contains(p.Dropped, f.MAC) {
			list = append(list, f.MAC)
		}
	}
	return list
}

// droppedOf are a request's dropped records, as one.
func droppedOf(ledger *deletions.Ledger, requestID string) (remains, error) {
	e, err := ledger.Get(requestID)
	by := make(map[scan.MAC]bool, len(e.Progress.Dropped))
	for _, mac := range e.Progress.Dropped {
		by[mac] = true
	}
	return remains{by: []map[scan.MAC]bool{by}}, err
}

// withdrawnBy is a tombstone's header with its request.
const withdrawnBy = "lethe-withdrawn-by"

// removeNamed tombstones the known records of some requests in every partition, naming the request: they count as
// found while the log has them.
func (n *Erased) removeNamed(ctx context.Context, requestIDs []string) error {
	for _, topic := range bus.Topics() {
		partitions, err := n.bus.Partitions(ctx, topic)
		if err != nil {
			return err
		}
		var tombstones []ingest.Outgoing
		for _, id := range requestIDs {
			for _, r := range n.named[id] {
				for p := range partitions {
					if r.Topic == topic {
						tombstones = append(tombstones, ingest.Outgoing{
							Key: []byte(r.Key), Headers: []ingest.Header{{Key: withdrawnBy, Value: []byte(id)}},
							Pinned: true, Partition: p,
						})
					}
				}
			}
		}
		if len(tombstones) == 0 {
			continue
		}
		if err := n.bus.Write(ctx, topic, tombstones); err != nil {
			return fmt.Errorf("withdraw known records of %s: %w", topic, err)
		}
	}
	return nil
}

func (s *Search) withdrawnFor(rec ingest.Record) bool {
	return slices.ContainsFunc(rec.Headers, func(h ingest.Header) bool {
		return h.Key == withdrawnBy && slices.Contains(s.requestIDs, string(h.Value))
	})
}

// withdrawn searches the topics for the targets of requests that are not withdrawn yet, and withdraws the findings. It
// reports whether it is done. The record of a withdrawn request may have left erasures.v1 already: after a restart its
// targets are unknown.
func (v *Verification) withdrawn(ctx context.Context, b batch) (_ batch, done bool, err error) {
	rest := b.notWithdrawn()
	if len(rest.members) == 0 {
		return b, true, nil
	}
	requests, known := v.states.jobs.targets(rest)
	if !known {
		return b, false, nil
	}
	where, err := v.locate(rest)
	if err != nil || where == nil {
		return b, false, err
	}
	if rest, err = v.withdraw(ctx, rest, requests, where); err != nil {
		return b, false, err
	}
	count := func(t bus.Topic) (int, error) { return v.states.o.Bus.Partitions(ctx, t) }
	heldUp, err := where.heldUp(rest, requests, v.states.erased.names, count)
	if err != nil {
		return b, false, err
	}
	for id, at := range heldUp {
		at.report(v.states.o.Logger, id)
	}
	if rest, err = v.states.update(rest, func(i int, p *deletions.Progress) {
		_, held := heldUp[rest.members[i].RequestID]
		p.Withdrawn = !held
	}); err != nil {
		return b, false, err
	}
	// Findings and outcomes are known now.
	if err := v.states.out.announce(ctx, rest.members...); err != nil {
		return b, false, err
	}
	return b.with(rest.members), true, nil
}

// purge deletes the records of requests that are no longer needed, once per process. Standbys read targets there, so
// all have acknowledged before.
func (v *Verification) purge(ctx context.Context, b batch) error {
	var tombstones []ingest.Outgoing
	for _, id := range b.ids() {
		if !v.purged[id] {
			tombstones = append(tombstones, ingest.Outgoing{Key: []byte(id)})
		}
	}
	if len(tombstones) == 0 {
		return nil
	}
	if err := v.states.o.Bus.Write(ctx, bus.Erasures, tombstones); err != nil {
		return fmt.Errorf("purge %d requests: %w", len(tombstones), err)
	}
	for _, id := range b.ids() {
		v.purged[id] = true
		delete(v.states.erased.named, id)
	}
	return v.states.jobs.done(b)
}

// withdraw removes the records found in sources, dead letters, predictions and reasons. Findings and outcomes are
// stored and handed over first: a repeated step finds less.
func (v *Verification) withdraw(
	ctx context.Context, b batch, requests [][]lethe.Target, where *located,
) (_ batch, err error) {
	s := v.states
	predictions, reasons, sources, letters := where.predictions, where.reasons, where.sources, where.letters
	held, dropped := make([][]bool, len(requests)), make([]remains, len(requests))
	for i, targets := range requests {
		if dropped[i], err = droppedOf(s.o.Ledger, b.members[i].RequestID); err != nil {
			return b, err
		}
		if held[i], err = s.namedBy(targets, sources, letters, dropped[i]); err != nil {
			return b, err
		}
	}
	before, err := s.o.Ledger.Where(sharing(b))
	if err != nil {
		return b, err
	}
	if b, err = s.update(b, func(i int, p *deletions.Progress) {
		ofOthers := holding(sources.ofOthers, p.Fingerprints)
		p.Counts.SourceRecords = max(p.Counts.SourceRecords, sources.of(p.Fingerprints)-ofOthers,
			dropped[i].of(p.Fingerprints))
		p.Counts.OfOthers = max(p.Counts.OfOthers, ofOthers)
		p.Counts.DeadLetters = max(p.Counts.DeadLetters, letters.of(p.Fingerprints))
		p.Counts.Predictions = max(p.Counts.Predictions, predictions.of(p.Fingerprints))
		p.Counts.Reasons = max(p.Counts.Reasons, reasons.of(p.Fingerprints))
		markErased(p, s.o.Secret, requests[i], held[i])
		decide(p, earlier(before, b.members[i]))
		decided(before, b.members[i].RequestID, p.Outcomes)
	}); err != nil {
		return b, err
	}
	if err := s.out.handOver(ctx, b.members); err != nil {
		return b, err
	}
	if err := v.askForLate(ctx, b, where.late); err != nil {
		return b, err
	}
	for _, found := range []remains{sources, letters, predictions, reasons} {
		err = errors.Join(err, s.erased.remove(ctx, found, where.looked))
	}
	return b, err
}

// askForLate requests what carried subjects of a batch in records refused as late, unless the batch erases it
// already.
func (v *Verification) askForLate(ctx context.Context, b batch, refused []ingest.Record) error {
	o := v.states.o
	erased := make(map[lethe.Digest]bool)
	for _, e := range b.members {
		for _, target := range e.Suppressed() {
			erased[target] = true
		}
	}
	var carriers []late.Carrier
	for _, rec := range refused {
		event, err := ingest.DecodeTransactions(rec, o.Limits)
		c := late.CarrierOf(event)
		if err == nil && len(c.Subjects) > 0 && !erased[o.Secret.Suppressed(c.Target)] {
			carriers = append(carriers, c)
		}
	}
	requests := late.Requests{Secret: o.Secret, Ledger: o.Ledger, Most: o.Limits.MaxErasureNodes, Out: o.Bus,
		Now: o.Clock.Now}
	if err := requests.Ask(ctx, carriers); err != nil {
		return fmt.Errorf("ask for late records of subjects: %w", err)
	}
	return nil
}
