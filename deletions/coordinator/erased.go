package coordinator

import (
	"context"
	"errors"
	"slices"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// swapped removes what nobody has waited for so far: records from their topics, and what
// the graphs have only deleted from their files. Then it sees that every place that held
// the targets was cleaned. If the graphs did not hold all targets, the topics are looked
// through now, and not later: some other place may have held them.
func (s *states) swapped(ctx context.Context, b batch) (batch, error) {
	if !s.erased.knowsAll(b) {
		found, done, err := s.verification.withdrawn(ctx, b)
		if err != nil || !done {
			return found, err
		}
		b = found
	} else if !s.scrubs.begunFor(b) {
		if err := s.erased.removeNamed(ctx, b.ids()); err != nil {
			return b, err
		}
	}
	if made, err := s.scrubs.make(ctx, b); err != nil || !made {
		return b, err
	}
	return s.cleaned(ctx, b)
}

// scrubs are the batches whose targets are out of the graphs' files.
type scrubs struct {
	graphs Graphs
	// made is, by leader, how many tries a batch had begun by then.
	made map[string]int
	// now is what is under way for a try of a batch, nil if nothing is.
	now    Scrub
	leader string
	tries  int
}

// has reports whether this process has written the graphs' files anew in this try of a batch.
func (s *scrubs) has(b batch) bool { return s.made[b.leader] == b.attempts()+1 }

// begunFor reports whether it has, or has begun to.
func (s *scrubs) begunFor(b batch) bool {
	return s.has(b) || s.now != nil && s.leader == b.leader && s.tries == b.attempts()+1
}

// make has the graphs' files written anew, once a try and in every process: one that takes over, or begins
// again, may have put into them what it deleted since. It reports whether that is done. What is under way for
// another batch is waited for first: it may have begun before this one has deleted anything.
func (s *scrubs) make(ctx context.Context, b batch) (made bool, err error) {
	if s.has(b) || s.now != nil {
		return s.has(b), nil
	}
	if s.now, err = s.graphs.BeginScrub(ctx); err != nil {
		return false, err
	}
	s.leader, s.tries = b.leader, b.attempts()+1
	_, err = s.end()
	return s.has(b), err
}

// end notes that what is under way has ended, if it has.
func (s *scrubs) end() (ended bool, err error) {
	if s.now == nil {
		return false, nil
	}
	if ended, err = s.now.Ended(); err != nil || !ended {
		return false, err
	}
	s.made[s.leader], s.now = s.tries, nil
	return true, nil
}

// cleaned waits until the other roles have searched the places that held the
// targets, which were rewritten or unlinked, and searches those of the graphs.
func (s *states) cleaned(ctx context.Context, b batch) (batch, error) {
	found, ok := s.acks.searchedBy(b, deletions.StepErased)
	if !ok {
		return b, nil
	}
	scanner, err := s.recordScanner(b.fingerprints())
	if err != nil {
		return b, err
	}
	report, err := s.o.Graphs.Search(ctx, scanner, b.replaced())
	if err != nil {
		return b, err
	}
	if found = found.Add(report.Summary()); found.Hits > 0 {
		s.splits.note(b)
		s.o.Logger.Error("erasure: a place that was written anew still holds something", "request_id", b.leader,
			"requests", len(b.members), "hits", found.Hits)
		return s.stop(ctx, b, deletions.Failed, deletions.FailedHits)
	}
	s.out.phaseDone(b, events.Swap, deletions.Swapped)
	note := func(_ int, e *deletions.Entry) { e.Progress.Erasure = &found }
	if b, err = s.move(ctx, b, deletions.Erased, note); err != nil {
		return b, err
	}
	return b, s.out.command(ctx, b.leader, wire.PhaseSearch)
}

// searchedBy puts together what the other roles have searched for the present attempt
// of a batch, if they all have.
func (a acks) searchedBy(b batch, step deletions.Step) (all scan.Summary, ok bool) {
	for _, role := range a.holders() {
		acks := a.all(b.leader, b.attempts(), role, step)
		if len(acks) == 0 {
			return all, false
		}
		for _, ack := range acks {
			all = all.Add(*ack.Scan)
		}
	}
	return all, true
}

// erasedEverywhere has the topics looked through for records of the targets whose keys
// were not known, and withdraws them. Then it has everything searched for what should be
// gone, outside of the loop, and ends the requests when that and the searches of the other
// roles have found nothing. One search is under way at a time. A request waits as long as
// another that names one of its targets is still in erasures.v1, unless that one is held.
func (s *states) erasedEverywhere(ctx context.Context, b batch) (batch, error) {
	if s.verification.search != nil {
		return s.verification.conclude(ctx, b)
	}
	b, done, err := s.verification.withdrawn(ctx, b)
	if err != nil || !done {
		return b, err
	}
	heldUp := b
	heldUp.members = slices.DeleteFunc(slices.Clone(b.members), func(e deletions.Entry) bool {
		return e.Progress.Withdrawn
	})
	if len(heldUp.members) > 0 { // the others are searched for without them
		s.dirty = true
		return s.stop(ctx, heldUp, deletions.Failed, deletions.FailedUnreadable)
	}
	if err := s.verification.purge(ctx, b); err != nil {
		return b, err
	}
	if b, err = s.spare(b); err != nil {
		return b, err
	}
	others, err := s.verification.naming(b.members)
	if err != nil {
		return b, err
	}
	ready := slices.DeleteFunc(slices.Clone(b.members), func(e deletions.Entry) bool {
		return awaits(others[e.RequestID])
	})
	if len(ready) == 0 {
		return b, nil
	}
	if made, err := s.scrubs.make(ctx, b); err != nil || !made {
		return b, err
	}
	return b, s.verification.begin(ready)
}

// spare drops the features that another transaction has by now from what is searched
// for, and says so.
func (s *states) spare(b batch) (batch, error) {
	var contents []scan.MAC
	for _, e := range b.members {
		for _, row := range e.Progress.Rows {
			contents = append(contents, row.Content)
		}
	}
	if len(contents) == 0 {
		return b, nil
	}
	alike, err := s.o.Graphs.Alike(contents)
	if err != nil || !slices.Contains(alike, true) {
		return b, err
	}
	has := make(map[scan.MAC]bool)
	for i, content := range contents {
		has[content] = alike[i]
	}
	s.erased.forget()
	return s.update(b, func(_ int, p *deletions.Progress) {
		for _, row := range p.Rows {
			if !has[row.Content] {
				continue
			}
			p.NotSearched = sortedset.Add(p.NotSearched, scan.KindFeatures, scan.KindFeaturesText)
			p.Fingerprints = slices.DeleteFunc(p.Fingerprints, func(f scan.Fingerprint) bool {
				return isFeatures(f.Kind) && slices.Contains(row.Forms, f.MAC)
			})
		}
		p.Rows = slices.DeleteFunc(p.Rows, func(row deletions.RowForms) bool { return has[row.Content] })
	})
}

// stubsLeft counts, for each request of a batch that is at scope shard, the stubs for its
// records that slices of other shards still hold: those in slices that have not been
// replaced since.
func (v *Verification) stubsLeft(b batch) ([]*int, error) {
	left := make([]*int, len(b.members))
	for i, e := range b.members {
		if e.Progress.StubsLeft == nil {
			continue
		}
		stands, err := v.states.o.Graphs.Outdated(refs(e.Progress.KeptStubs))
		if err != nil {
			return nil, err
		}
		sum := 0
		for at, kept := range e.Progress.KeptStubs {
			if stands[at] {
				sum += kept.Stubs
			}
		}
		left[i] = &sum
	}
	return left, nil
}

func refs(list []deletions.KeptStubs) []deletions.SliceRef {
	out := make([]deletions.SliceRef, len(list))
	for i, kept := range list {
		out[i] = kept.SliceRef
	}
	return out
}

// A record of another transaction may name a target: in a header, as a subject or in a field of no meaning. Its
// transaction stays in graphs and models, and so its record stays in its topic: it is published again without that.

// Strip returns a record of another transaction without what names something erased; again says that it is to be
// published again as it is returned. more says that the record's value holds subjects or fields of no meaning.
// names says that the record names something erased and has to go as a whole.
func (n *Erased) Strip(rec ingest.Record, more bool) (_ ingest.Record, again, names bool, err error) {
	if !more && len(rec.Headers) == 0 && len(n.underWay) == 0 {
		return rec, false, false, nil
	}
	at := place{sourceOf(rec), partitionKey{partition: rec.Partition, key: string(rec.Key)}}
	is, _ := ingest.IsRepublished(n.secret, rec)
	if last, waits := n.underWay[at]; waits && is && !rec.Tombstone() && ingest.ReplacedOffset(rec.Headers) == last {
		delete(n.underWay, at)
	}
	_, waits := n.underWay[at]
	whole := rec
	if rec.Tombstone() { // its key is what it deletes: to withdraw it writes another, for ever
		whole.Key = nil
	}
	if names, err = n.Names(whole); err != nil || !names {
		return rec, !is && waits, false, err
	}
	if out, ok := stripped(n.scanner, rec); ok {
		return out, true, false, nil
	}
	return rec, false, true, nil
}

// noteUnderWay remembers records that are published again until the last one of their key is read (compaction may drop
// others): one that is read before was written before, and is published again, so that the newest stays the newest.
func (n *Erased) noteUnderWay(topic bus.Topic, list []ingest.Outgoing) {
	for _, o := range list {
		if o.Value != nil && (topic == bus.Transactions || topic == bus.Labels) {
			at := place{topic, partitionKey{partition: o.Partition, key: string(o.Key)}}
			n.underWay[at] = ingest.ReplacedOffset(o.Headers)
		}
	}
}

// stillDue leaves out records to be published again whose keys have come since the topic was looked through: what
// comes is published again as it is taken, if it has to be.
func (n *Erased) stillDue(
	ctx context.Context, topic bus.Topic, list []ingest.Outgoing, l looked,
) ([]ingest.Outgoing, error) {
	again := func(o ingest.Outgoing) bool { return o.Value != nil }
	positions, known := l.behind(topic, make(due))
	if !known || !slices.ContainsFunc(list, again) {
		return list, nil
	}
	came := make(map[partitionKey]bool)
	err := n.bus.ReadNew(ctx, topic, positions, func(rec ingest.Record) error {
		came[partitionKey{partition: rec.Partition, key: string(rec.Key)}] = true
		return nil
	})
	if err != nil && !errors.Is(err, bus.ErrCorrupt) {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(o ingest.Outgoing) bool {
		return again(o) && came[partitionKey{partition: o.Partition, key: string(o.Key)}]
	}), nil
}
