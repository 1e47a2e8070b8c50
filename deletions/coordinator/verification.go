package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// Verification hands out searches for another goroutine and receives their verdicts.
type Verification struct {
	*core
	// locating finds records to be withdrawn; verifying is the last search.
	locating, verifying searching
	// located is the attempt of the batch that locating is for, concluded the time of its verdict.
	located   int
	concluded time.Time
	// looked are the records that the last one has searched.
	looked search.Looked
	// barrier is the name of the barrier after the verdict. passed means that it was read back, so that all processes
	// that joined before are known; unpublished that it is not published yet.
	barrier             string
	passed, unpublished bool
}

// searching is a search and its result.
type searching struct {
	// search is the current search, or nil; handed means that it runs.
	search  *search.Search
	handed  bool
	verdict *search.Verdict
}

// next returns the search to run now, once, or nil.
func (s *searching) next() *search.Search {
	if s.search == nil || s.handed {
		return nil
	}
	s.handed = true
	return s.search
}

// Next returns the search to run now, once, or nil. Pass its verdict to Conclude.
func (v *Verification) Next() *search.Search {
	if first := v.locating.next(); first != nil {
		return first
	}
	return v.verifying.next()
}

// Conclude receives a verdict. The next Advance uses it.
func (v *Verification) Conclude(ctx context.Context, verdict search.Verdict) error {
	v.dirty = true
	if verdict.Located != nil {
		v.locating.search, v.locating.verdict, v.concluded = nil, &verdict, v.now()
		if verdict.Err == nil {
			v.looked = verdict.Located.Looked
		}
		return verdict.Err
	}
	if ctx.Err() != nil {
		// The process stops; the search begins again at the start.
		v.verifying.search, v.barrier = nil, ""
		return verdict.Err
	}
	v.verifying.verdict = &verdict
	return nil
}

// locatedFor is how long located records are taken as all that there are. A process that has not searched its files yet
// may take hours.
const locatedFor = 3 * time.Second

// locate returns the records to be withdrawn for a batch, once found.
func (v *Verification) locate(b batch.Batch) (*search.Located, error) {
	last, age := v.locating.verdict, v.now().Sub(v.concluded)
	if last != nil && v.located == b.Attempts() && slices.Equal(last.RequestIDs, b.IDs()) && age.Abs() <= locatedFor {
		v.locating.verdict = nil
		return last.Located, nil
	}
	return nil, v.beginLocating(b)
}

// locateAhead begins to locate the records of a batch before they are asked for, if nothing else was located.
func (v *Verification) locateAhead(b batch.Batch) error {
	if v.locating.verdict != nil || len(b.Members) == 0 {
		return nil
	}
	return v.beginLocating(b)
}

func (v *Verification) beginLocating(b batch.Batch) error {
	if v.locating.search != nil {
		return nil
	}
	sought, err := v.searchFor(b)
	if err != nil {
		return err
	}
	sought.Locates, sought.Secret, sought.Taken = true, v.o.Secret, v.o.Notes.Taken()
	v.locating, v.located = searching{search: sought}, b.Attempts()
	return nil
}

// begin prepares the search for some requests.
func (v *Verification) begin(b batch.Batch) error {
	sought, err := v.searchFor(b)
	if err != nil {
		return err
	}
	waiting, err := v.o.Ledger.List(deletions.Held)
	if err != nil {
		return err
	}
	sought.Timeout, sought.Held = v.o.VerifyTimeout, make(map[string]bool)
	for _, e := range waiting {
		sought.Held[e.RequestID] = true
	}
	if v.looked.Serves(sought.Prints) {
		sought.Looked = v.looked
	}
	v.verifying = searching{search: sought}
	return nil
}

func (v *Verification) searchFor(b batch.Batch) (*search.Search, error) {
	prints := b.Fingerprints()
	scanner, err := v.scanner(prints)
	return &search.Search{RequestIDs: b.IDs(), Prints: prints, Scanner: scanner}, err
}

// awaitsBarrier reports whether a process may have joined before the end of the search whose record is not read yet. A
// process that joins later reads topics that were searched, and has no copy.
func (v *Verification) awaitsBarrier(ctx context.Context, b batch.Batch) (bool, error) {
	if v.barrier == "" {
		v.barrier = fmt.Sprintf("%s/%d/%d", b.Leader, b.Attempts(), v.now().UnixNano())
		v.passed, v.unpublished = false, true
	}
	if v.passed || !v.unpublished {
		return !v.passed, nil
	}
	record, err := wire.Barrier{Name: v.barrier}.Record()
	if err != nil {
		return false, err
	}
	if err := wire.PublishRecords(ctx, v.o.Bus, []ingest.Outgoing{record}); err != nil {
		return false, err
	}
	v.unpublished = false
	return true, nil
}

// passes receives a barrier that was read back. If it is not the awaited one, a previous leader or a copy of an old
// record has replaced that, and after compaction it would never be read: it is published again.
func (v *Verification) passes(b wire.Barrier) {
	v.passed = v.passed || v.barrier != "" && b.Name == v.barrier
	v.unpublished = v.barrier != "" && !v.passed
}

// scrubs tracks which batches had the graphs' files rewritten.
type scrubs struct {
	graphs Graphs
	// made has the number of attempts (plus 1) at the last scrub, by leader.
	made map[string]int
	// ended reports whether the running scrub has ended; nil if none runs.
	ended  func() bool
	leader string
	tries  int
}

// has reports whether this attempt of a batch was scrubbed.
func (s *scrubs) has(b batch.Batch) bool { return s.made[b.Leader] == b.Attempts()+1 }

// begunFor reports whether its scrub has at least begun.
func (s *scrubs) begunFor(b batch.Batch) bool {
	return s.has(b) || s.ended != nil && s.leader == b.Leader && s.tries == b.Attempts()+1
}

// make scrubs once per attempt and process, since a new process may restore deleted data to the files, and reports
// whether it is done. It first waits for another batch's scrub, which may have begun too early for this one.
func (s *scrubs) make(ctx context.Context, b batch.Batch) (made bool, err error) {
	if s.has(b) || s.ended != nil {
		return s.has(b), nil
	}
	if s.ended, err = s.graphs.BeginScrub(ctx); err != nil {
		return false, err
	}
	s.leader, s.tries = b.Leader, b.Attempts()+1
	s.end()
	return s.has(b), nil
}

// end reports whether the running scrub has ended, and records that.
func (s *scrubs) end() bool {
	if s.ended == nil || !s.ended() {
		return false
	}
	s.made[s.leader], s.ended = s.tries, nil
	return true
}
