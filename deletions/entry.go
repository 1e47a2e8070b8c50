package deletions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
)

const (
	entryFormat       = "lethe-ledger/1"
	maxRequestIDBytes = 128
)

// ErrRequest refuses an erasure request. The caller rejects it; the text holds
// no part of the request but the position of a target.
var ErrRequest = errors.New("erasure request refused")

// SliceRef names a slice.
type SliceRef struct {
	Timestep lethe.Timestep `json:"timestep"`
	Shard    lethe.ShardID  `json:"shard"`
}

// Compare orders slices by timestep, then by shard.
func (s SliceRef) Compare(t SliceRef) int {
	return cmp.Or(cmp.Compare(s.Timestep, t.Timestep), cmp.Compare(s.Shard, t.Shard))
}

// Change is one step of a request's history.
type Change struct {
	State   State       `json:"state"`
	At      time.Time   `json:"at"`
	Failure FailureCode `json:"failure,omitempty"`
}

// Counts says how much a request concerns. It names nothing.
type Counts struct {
	Targets   int `json:"nodes"`
	Timesteps int `json:"timesteps"`
	Payments  int `json:"payments"`
	Labels    int `json:"labels"`
	Slices    int `json:"slices"`
	Shards    int `json:"shards"`
	// Stubs stood for the records in slices of other shards.
	Stubs int `json:"stubs"`
	// SourceRecords, DeadLetters and Predictions were found in the topics and
	// withdrawn: transactions, payments and labels; refused records; predictions
	// of the records.
	SourceRecords int `json:"source_records"`
	DeadLetters   int `json:"dead_letters"`
	Predictions   int `json:"predictions"`
}

// Progress is what the steps find out about a request.
type Progress struct {
	// Fingerprints are the forms searched for. They are added before the first
	// byte is erased: afterwards nobody knows the bytes any more.
	Fingerprints []scan.Fingerprint `json:"fingerprints,omitempty"`
	// NotSearched are the forms that say nothing about the records.
	NotSearched    []scan.Kind      `json:"not_searched,omitempty"`
	Timesteps      []lethe.Timestep `json:"timesteps,omitempty"`
	Slices         []SliceRef       `json:"slices,omitempty"`
	Retrained      []lethe.ShardID  `json:"retrained,omitempty"`
	Counts         Counts           `json:"counts"`
	EnsembleBefore lethe.Digest     `json:"ensemble_before,omitzero"`
	EnsembleAfter  lethe.Digest     `json:"ensemble_after,omitzero"`
	Verification   *scan.Summary    `json:"verification,omitempty"`
}

// Entry is what the ledger knows of one request. It holds no id, no feature
// and no text of the request.
type Entry struct {
	Format    string      `json:"format"`
	RequestID string      `json:"request_id"`
	Scope     lethe.Scope `json:"scope"`
	State     State       `json:"state"`
	// FailedIn is the state to retry from, while State is Failed.
	FailedIn State `json:"failed_in,omitempty"`
	// Attempts counts how often a step was begun again after a failure.
	Attempts int      `json:"attempts"`
	History  []Change `json:"history"`
	// Targets are keyed hashes (lethe.Secret.Suppression), ascending.
	Targets []lethe.Digest `json:"nodes"`
	// Reason is the keyed hash of the reason's text, zero if there was none.
	Reason   lethe.Digest `json:"reason,omitzero"`
	Progress Progress     `json:"progress"`
}

// NewEntry makes the entry of a request that has just been received. The
// fingerprints it starts with are those of the ids and pseudonyms, which need
// no snapshot. A request id that itself holds one of the ids is refused,
// because receipts and file names carry it.
func NewEntry(secret lethe.Secret, r lethe.ErasureRequest, at time.Time) (Entry, error) {
	e := Entry{Format: entryFormat, RequestID: r.RequestID, Scope: r.Scope, State: Received}
	if e.Scope == "" {
		e.Scope = lethe.ScopeStubs
	}
	e.History = []Change{{State: Received, At: record.Time(at)}}
	if r.Reason != "" {
		e.Reason = secret.Hash("erasure-reason", []byte(r.Reason))
	}
	ids, err := lethe.TransactionsOf(r.Targets)
	if err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	var prints []scan.Fingerprint
	for i, id := range ids {
		if id == "" {
			return Entry{}, fmt.Errorf("%w: target %d is empty", ErrRequest, i)
		}
		target := secret.Suppression(id)
		if slices.Contains(e.Targets, target) {
			continue
		}
		forms, err := scan.TransactionFingerprints(secret, id)
		if err != nil {
			return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
		}
		prints = append(prints, forms...)
		e.Targets = append(e.Targets, target)
	}
	slices.SortFunc(e.Targets, record.CompareDigests)
	e.Progress = Progress{Fingerprints: prints, Counts: Counts{Targets: len(e.Targets)}}
	if err := e.Validate(); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	for i, id := range ids {
		if r.RequestID == string(id) || len(id) >= scan.BoundedIDBytes && bytes.Contains([]byte(r.RequestID), []byte(id)) {
			return Entry{}, fmt.Errorf("%w: the request id holds the id of target %d", ErrRequest, i)
		}
	}
	return e, nil
}

// Received is when the request came.
func (e *Entry) Received() time.Time { return e.History[0].At }

// Updated is when the state last changed.
func (e *Entry) Updated() time.Time { return e.History[len(e.History)-1].At }

// Failure is the code of the last change.
func (e *Entry) Failure() FailureCode { return e.History[len(e.History)-1].Failure }

// Suppresses reports whether the records must be dropped wherever they turn
// up: from Suppressed on, for ever.
func (e *Entry) Suppresses() bool {
	return slices.ContainsFunc(e.History, func(c Change) bool { return c.State == Suppressed })
}

// ValidRequestID reports whether the text may name a request: 1 to 128 of A-Z,
// a-z, 0-9, '.', '_' and '-', not beginning with '.'.
func ValidRequestID(id string) bool {
	if id == "" || len(id) > maxRequestIDBytes || id[0] == '.' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !alphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
