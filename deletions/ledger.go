package deletions

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
)

// KV is where the ledger keeps its entries.
type KV interface {
	// Get returns the value under a key and whether there is one.
	Get(key []byte) ([]byte, bool, error)
	// Scan calls fn for the keys with the prefix, ascending. fn must not keep
	// key and value.
	Scan(prefix []byte, fn func(key, value []byte) error) error
	// Put is atomic and durable when it returns nil.
	Put(key, value []byte) error
}

var (
	// ErrUnknownRequest says that the ledger has no such request.
	ErrUnknownRequest = errors.New("unknown erasure request")
	// ErrConflict says that the ledger has a request of this id with another content.
	// The caller rejects the later one without touching the first.
	ErrConflict = errors.New("another erasure request has this id")
)

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
}

// NewLedger returns the ledger kept in kv. clock tells the time of a change; it
// may step back, the history does not.
func NewLedger(kv KV, clock func() time.Time) *Ledger {
	return &Ledger{kv: kv, clock: clock}
}

// Receive puts a request into the ledger, as Received. A request that is there
// already with the same targets, scope and reason is returned as it stands, so
// that a redelivered record does no harm; with another content it is
// ErrConflict. A request that cannot be is ErrRequest.
func (l *Ledger) Receive(secret lethe.Secret, r lethe.ErasureRequest) (Entry, error) {
	fresh, err := NewEntry(secret, r, l.clock())
	if err != nil {
		return Entry{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known, err := l.read(r.RequestID)
	switch {
	case errors.Is(err, ErrUnknownRequest):
		return l.commit(fresh)
	case err != nil:
		return Entry{}, err
	case !slices.Equal(known.Targets, fresh.Targets) || known.Scope != fresh.Scope || known.Reason != fresh.Reason:
		return known, fmt.Errorf("request %s: %w", r.RequestID, ErrConflict)
	default:
		return known, nil
	}
}

// Get returns a request, or ErrUnknownRequest.
func (l *Ledger) Get(requestID string) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read(requestID)
}

// Transition moves a request to a state that needs no failure code, and records
// what update changes of its progress in the same write; update may be nil. To
// leave Failed, move to the state it failed in. A move that the state machine
// does not have is ErrIllegalTransition. On any error the ledger is unchanged,
// unless the KV broke its promise.
func (l *Ledger) Transition(requestID string, to State, update func(*Progress)) (Entry, error) {
	return l.move(requestID, Change{State: to}, update)
}

// Stop moves a request to Failed or Rejected, with the code that says why.
func (l *Ledger) Stop(requestID string, to State, code FailureCode) (Entry, error) {
	return l.move(requestID, Change{State: to, Failure: code}, nil)
}

// Retry moves a failed request back to the state it failed in.
func (l *Ledger) Retry(requestID string) (Entry, error) {
	e, err := l.Get(requestID)
	if err != nil {
		return Entry{}, err
	}
	if e.State != Failed {
		return Entry{}, fmt.Errorf("request %s: %w: retry from %s", requestID, ErrIllegalTransition, e.State)
	}
	return l.Transition(requestID, e.FailedIn, nil)
}

// Update records progress within a state.
func (l *Ledger) Update(requestID string, update func(*Progress)) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.read(requestID)
	if err != nil {
		return Entry{}, err
	}
	if e.State.Final() {
		return Entry{}, fmt.Errorf("request %s: %w: progress in %s", requestID, ErrIllegalTransition, e.State)
	}
	update(&e.Progress)
	return l.commit(e)
}

func (l *Ledger) move(requestID string, c Change, update func(*Progress)) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.read(requestID)
	if err != nil {
		return Entry{}, err
	}
	if err := checkMove(e.State, e.FailedIn, c.State); err != nil {
		return Entry{}, fmt.Errorf("request %s: %w", requestID, err)
	}
	if !c.Failure.fits(c.State) {
		return Entry{}, fmt.Errorf("request %s: %w: code %q does not explain %s", requestID, ErrIllegalTransition, c.Failure,
			c.State)
	}
	c.At = record.Time(l.clock())
	if last := e.Updated(); c.At.Before(last) {
		c.At = last
	}
	if e.State == Failed {
		e.Attempts++
	}
	e.FailedIn = ""
	if c.State == Failed {
		e.FailedIn = e.State
	}
	e.State = c.State
	e.History = append(e.History, c)
	if update != nil {
		update(&e.Progress)
	}
	return l.commit(e)
}

func (l *Ledger) read(requestID string) (Entry, error) {
	if !ValidRequestID(requestID) {
		return Entry{}, fmt.Errorf("%w: no request has such an id", ErrUnknownRequest)
	}
	value, found, err := l.kv.Get([]byte(ledgerPrefix + requestID))
	if err != nil {
		return Entry{}, fmt.Errorf("ledger: request %s: %w", requestID, err)
	}
	if !found {
		return Entry{}, fmt.Errorf("%w: %s", ErrUnknownRequest, requestID)
	}
	e, err := DecodeEntry(value)
	if err != nil {
		return Entry{}, fmt.Errorf("request %s: %w", requestID, err)
	}
	return e, nil
}

// commit writes an entry and returns it.
func (l *Ledger) commit(e Entry) (Entry, error) {
	value, err := e.Encode()
	if err != nil {
		return Entry{}, fmt.Errorf("request %s: %w", e.RequestID, err)
	}
	if err := l.kv.Put([]byte(ledgerPrefix+e.RequestID), value); err != nil {
		return Entry{}, fmt.Errorf("ledger: request %s: %w", e.RequestID, err)
	}
	return e, nil
}

// List returns the requests in the given states, or all if none is given, in
// the order in which they were received, then of their ids.
func (l *Ledger) List(states ...State) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Entry
	err := l.kv.Scan([]byte(ledgerPrefix), func(key, value []byte) error {
		e, err := DecodeEntry(value)
		if err != nil {
			return fmt.Errorf("request %s: %w", bytes.TrimPrefix(key, []byte(ledgerPrefix)), err)
		}
		if len(states) == 0 || slices.Contains(states, e.State) {
			list = append(list, e)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return a.Received().Compare(b.Received()) })
	return list, nil
}
