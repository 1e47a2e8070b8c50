package deletions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lethe/deletions/internal/record"
)

// KV stores the ledger.
type KV interface {
	// Scan calls fn for the keys with a prefix, ascending. fn must not keep its arguments.
	Scan(prefix []byte, fn func(key, value []byte) error) error
	// Put writes all rows or none, durably.
	Put(rows ...Row) error
}

// Row is a key and its value.
type Row = record.Row

var (
	// ErrUnknownRequest means that the ledger has no such request.
	ErrUnknownRequest = errors.New("unknown erasure request")
	// ErrConflict means that the ledger has another request under this id. Reject the later one.
	ErrConflict = errors.New("another erasure request has this id")
	// ErrRepeat means that the same was requested before under this id. The first request answers for both.
	ErrRepeat = errors.New("the same was requested before")
)

// Journal records the changes of the ledger in the same write.
type Journal interface {
	// Write calls put with rows and the journal's own, all or none.
	Write(c Changes, rows []Row, put func(...Row) error) error
}

// Changes are the requests and holds of one write, as they are afterwards.
type Changes struct {
	Entries []Entry
	Holds   []Hold
}

const ledgerPrefix = "erasure/"

// Ledger is the durable record of erasure requests. A change is durable when its method returns, so that no step
// begins before its state is stored. It is safe for concurrent use; a KV has one ledger only.
type Ledger struct {
	mu    sync.Mutex
	kv    KV
	clock func() time.Time
	// journal may be nil.
	journal Journal
	// known are the stored entries by request id; nil until read.
	known map[string]Entry
	// holds are the stored holds; nil until read.
	holds []Hold
}

// NewLedger returns the ledger in kv. clock dates changes; the history stays ordered if it steps back.
func NewLedger(kv KV, clock func() time.Time) *Ledger {
	return &Ledger{kv: kv, clock: clock}
}

// Keep sets the journal of all later changes.
func (l *Ledger) Keep(j Journal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.journal = j
}

// TakeAll adds entries in one write, with a result and an error each. If a request id is known, the result is the
// stored entry: without error for the same request, so that redelivery is harmless, else with ErrRepeat or ErrConflict.
// The last error is the ledger's.
func (l *Ledger) TakeAll(fresh []Entry) (list []Entry, errs []error, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, nil, err
	}
	var written []Entry
	for _, e := range fresh {
		known, found := l.known[e.RequestID]
		if at := slices.IndexFunc(written, func(w Entry) bool { return w.RequestID == e.RequestID }); at >= 0 {
			known, found = written[at], true
		}
		if !found {
			known = e
			written = append(written, e)
		}
		list, errs = append(list, known.clone()), append(errs, known.sameAs(e))
	}
	if len(written) == 0 {
		return list, errs, nil
	}
	return list, errs, l.commitAll(written)
}

// sameAs returns ErrConflict or ErrRepeat if an entry of this id is of another request.
func (e *Entry) sameAs(later Entry) error {
	switch {
	case e.Digest == later.Digest:
		return nil
	case !slices.Equal(e.Targets, later.Targets) || e.Scope != later.Scope || e.Reason != later.Reason ||
		!e.Deadline.Equal(later.Deadline):
		return fmt.Errorf("request %s: %w", e.RequestID, ErrConflict)
	default:
		return fmt.Errorf("request %s: %w", e.RequestID, ErrRepeat)
	}
}

// Restore adds an entry from a copy of the ledger, unless the ledger knows as much.
func (l *Ledger) Restore(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, err := l.read(e.RequestID)
	if err != nil && !errors.Is(err, ErrUnknownRequest) {
		return err
	}
	if err == nil && len(known.History) >= len(e.History) {
		return nil
	}
	_, err = l.commit(e)
	return err
}

// Get returns a request, or ErrUnknownRequest.
func (l *Ledger) Get(requestID string) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read(requestID)
}

// load reads the store once.
func (l *Ledger) load() error {
	if l.known != nil {
		return nil
	}
	known := make(map[string]Entry)
	err := l.kv.Scan([]byte(ledgerPrefix), func(key, value []byte) error {
		id := string(bytes.TrimPrefix(key, []byte(ledgerPrefix)))
		e, err := DecodeEntry(value)
		if err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
		known[id] = e
		return nil
	})
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.known = known
	return nil
}

func (l *Ledger) read(requestID string) (Entry, error) {
	if !ValidRequestID(requestID) {
		return Entry{}, fmt.Errorf("%w: no request has such an id", ErrUnknownRequest)
	}
	if err := l.load(); err != nil {
		return Entry{}, err
	}
	e, found := l.known[requestID]
	if !found {
		return Entry{}, fmt.Errorf("%w: %s", ErrUnknownRequest, requestID)
	}
	return e.clone(), nil
}

func (l *Ledger) commit(e Entry) (Entry, error) { return e, l.commitAll([]Entry{e}) }

func (l *Ledger) commitAll(list []Entry) error {
	rows := make([]Row, len(list))
	for i, e := range list {
		value, err := e.Encode()
		if err != nil {
			return fmt.Errorf("request %s: %w", e.RequestID, err)
		}
		rows[i] = Row{Key: []byte(ledgerPrefix + e.RequestID), Value: value}
	}
	if err := l.put(Changes{Entries: list}, rows); err != nil {
		// It may or may not be stored.
		l.known = nil
		return fmt.Errorf("ledger: request %s and %d more: %w", list[0].RequestID, len(list)-1, err)
	}
	for _, e := range list {
		l.known[e.RequestID] = e.clone()
	}
	return nil
}

func (l *Ledger) put(c Changes, rows []Row) error {
	if l.journal == nil {
		return l.kv.Put(rows...)
	}
	return l.journal.Write(c, rows, l.kv.Put)
}

// List returns the requests in some states, or all, by time of receipt, then id.
func (l *Ledger) List(states ...State) ([]Entry, error) {
	return l.Where(func(e *Entry) bool { return len(states) == 0 || slices.Contains(states, e.State) })
}

// Open returns the requests in no final state.
func (l *Ledger) Open() ([]Entry, error) {
	return l.List(slices.DeleteFunc(States(), State.Final)...)
}

// Where is List of the requests that match. Only those are copied: match must neither change nor keep an entry, nor
// use the ledger.
func (l *Ledger) Where(match func(e *Entry) bool) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	var list []Entry
	for _, e := range l.known {
		if match(&e) {
			list = append(list, e.clone())
		}
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(a.Received().Compare(b.Received()), cmp.Compare(a.RequestID, b.RequestID))
	})
	return list, nil
}

// Count returns the number of requests in every state.
func (l *Ledger) Count() (map[State]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	counts := make(map[State]int, len(States()))
	for _, s := range States() {
		counts[s] = 0
	}
	for _, e := range l.known {
		counts[e.State]++
	}
	return counts, nil
}
