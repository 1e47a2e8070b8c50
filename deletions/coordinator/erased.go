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

// swapped cleans up: it tombstones records and scrubs the graphs' files, then waits until every place was searched.
// If the graphs did not hold all targets, it searches the topics now, for another place may have held them.
func (s *states) swapped(ctx context.Context, b batch) (batch, error) {
	switch {
	case s.scrubs.begunFor(b): // what a batch that nobody can read holds up is looked for again with the next attempt
	case s.erased.knowsAll(b):
		if err := s.erased.removeNamed(ctx, b.ids()); err != nil {
			return b, err
		}
	default:
		found, done, err := s.verification.withdrawn(ctx, b)
		if err != nil || !done {
			return found, err
		}
		b = found
	}
	if made, err := s.scrubs.make(ctx, b); err != nil || !made {
		return b, err
	}
	return s.cleaned(ctx, b)
}

// scrubs tracks which batches had the graphs' files rewritten.
type scrubs struct {
	graphs Graphs
	// made has the number of attempts (plus 1) at the last scrub, by leader.
	made map[string]int
	// now is the running scrub, or nil.
	now    Scrub
	leader string
	tries  int
}

// has reports whether this attempt of a batch was scrubbed.
func (s *scrubs) has(b batch) bool { return s.made[b.leader] == b.attempts()+1 }

// begunFor reports whether its scrub has at least begun.
func (s *scrubs) begunFor(b batch) bool {
	return s.has(b) || s.now != nil && s.leader == b.leader && s.tries == b.attempts()+1
}

// make scrubs once per attempt and process, since a new process may restore deleted data to the files, and reports
// whether it is done. It first waits for another batch's scrub, which may have begun too early for this one.
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

// end reports whether the running scrub has ended, and records that.
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

// cleaned waits for the other roles to search the rewritten places, and searches those of the graphs.
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
		s.splits.mark(b)
		s.o.Logger.Error("erasure: a place that was written anew still holds something", "request_id", b.leader,
			"requests", len(b.members), "hits", found.Hits)
		return s.stop(ctx, b, deletions.Failed, deletions.FailedHits)
	}
	s.out.phaseDone(b, events.Swap, deletions.Swapped)
	mark := func(_ int, e *deletions.Entry) { e.Progress.Erasure = &found }
	if b, err = s.move(ctx, b, deletions.Erased, mark); err != nil {
		return b, err
	}
	return b, s.out.command(ctx, b.leader, wire.PhaseSearch)
}

// searchedBy sums up the other roles' searches for a batch, once all have acknowledged.
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

// erasedEverywhere tombstones records of unknown keys, then has everything searched, in another goroutine, and ends
// the requests when no role has found anything. One search runs at a time. A request waits while another one's
// record in erasures.v1 names one of its targets, unless that one is held.
func (s *states) erasedEverywhere(ctx context.Context, b batch) (batch, error) {
	if s.verification.search != nil {
		return s.verification.conclude(ctx, b)
	}
	b, done, err := s.verification.withdrawn(ctx, b)
	if err != nil || !done {
		return b, err
	}
	heldUp := b.notWithdrawn()
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

// spare drops features that another transaction has by now from the search, and records that.
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

// stubsLeft counts, for requests at scope shard, the stubs for their records in slices of other shards that were not
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

// Another transaction's record may name a target: in a header, a subject or an unused field. It is republished
// without that name.

// Strip returns another transaction's record without erased names; again says to republish it. more says that the
// value has subjects or unused fields. names says that the record must go as a whole.
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

// addUnderWay remembers republished records until the last of each key is read. An earlier one is republished when
// read, so that the newest stays newest.
func (n *Erased) addUnderWay(topic bus.Topic, list []ingest.Outgoing) {
	for _, o := range list {
		if o.Value != nil && (topic == bus.Transactions || topic == bus.Labels) {
			at := place{topic, partitionKey{partition: o.Partition, key: string(o.Key)}}
			n.underWay[at] = ingest.ReplacedOffset(o.Headers)
		}
	}
}

// stillDue leaves out records whose keys came again since the search: those are republished on arrival if needed.
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
