package deletions

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lethe/deletions/internal/record"
)

// KV is where the ledger keeps its entries.
type KV interface {
	// Scan calls fn for the keys with the prefix, ascending. fn must not keep
	// key and value.
	Scan(prefix []byte, fn func(key, value []byte) error) error
	// Put writes all rows or none, and durably when it returns nil.
	Put(rows ...Row) error
}

// Row is a key and its value.
type Row = record.Row

var (
	// ErrUnknownRequest says that the ledger has no such request.
	ErrUnknownRequest = errors.New("unknown erasure request")
	// ErrConflict says that the ledger has a request of this id with another content.
	// The caller rejects the later one without touching the first.
	ErrConflict = errors.New("another erasure request has this id")
	// ErrRepeat says that the ledger has a request of this id and content, submitted
	// before. The caller answers the later one by the first.
	ErrRepeat = errors.New("the same was requested before")
)

// Journal writes down what the ledger changes, in the same write.
type Journal interface {
	// Write has put write rows, together with the rows by which the journal remembers what
	// changed since it wrote last. They are written all or none.
	Write(c Changes, rows []Row, put func(...Row) error) error
}

// Changes are the requests and holds of one write, as they are after it.
type Changes struct {
	Entries []Entry
	Holds   []Hold
}

// ledgerPrefix begins every key of the ledger.
const ledgerPrefix = "erasure/"

// Ledger is the durable record of every erasure request. Each change is durable
// before the method returns, so that a step is begun only after the state that
// announces it is on disk. Its methods may be called from several goroutines;
// no two ledgers may write to one KV.
type Ledger struct {
	mu    sync.Mutex
	kv    KV
	clock func() time.Time
	// journal is nil if nothing is written down.
	journal Journal
	// known are the entries as they are stored, by request id; nil until they are read.
	known map[string]Entry
	// holds are as they are stored; nil until they are read.
	holds []Hold
}

// NewLedger returns the ledger kept in kv. clock tells the time of a change; it
// may step back, the history does not.
func NewLedger(kv KV, clock func() time.Time) *Ledger {
	return &Ledger{kv: kv, clock: clock}
}

// Keep has every change from now on written down in a journal, which keeps its rows in the
// same KV.
func (l *Ledger) Keep(j Journal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.journal = j
}

// Take puts a new entry into the ledger. If there is one of its request id, that is
// returned as it stands: without an error if the request is the same, so that a
// redelivered record does no harm, with ErrRepeat if the same was submitted a second
// time, and with ErrConflict if it asks for something else.
func (l *Ledger) Take(fresh Entry) (Entry, error) {
	list, errs, err := l.TakeAll([]Entry{fresh})
	if err != nil {
		return Entry{}, err
	}
	return list[0], errs[0]
}

// TakeAll is Take of several entries, in order, in one write: for each what Take would
// return. The last error is that of the ledger as a whole.
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

// sameAs says how an entry of the same request id asks for something else than this one, or again.
func (e *Entry) sameAs(later Entry) error {
	switch {
	case !slices.Equal(e.Targets, later.Targets) || e.Scope != later.Scope || e.Reason != later.Reason ||
		!e.Deadline.Equal(later.Deadline):
		return fmt.Errorf("request %s: %w", e.RequestID, ErrConflict)
	case e.Digest != later.Digest:
		return fmt.Errorf("request %s: %w", e.RequestID, ErrRepeat)
	default:
		return nil
	}
}

// Restore puts an entry into the ledger that was taken from a copy of it, unless the
// ledger knows as much of the request.
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

// load decodes what is stored, once.
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

// commit writes an entry and returns it.
func (l *Ledger) commit(e Entry) (Entry, error) { return e, l.commitAll([]Entry{e}) }

// commitAll writes entries, all or none.
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
		// Whether it was written is not known.
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

// List returns the requests in the given states, or all if none is given, in
// the order in which they were received, then of their ids.
func (l *Ledger) List(states ...State) ([]Entry, error) {
	return l.Where(func(e *Entry) bool { return len(states) == 0 || slices.Contains(states, e.State) })
}
