package deletions

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
)

const (
	entryFormat       = "lethe-ledger/4"
	maxRequestIDBytes = 128
)

// ErrRequest refuses an erasure request. The caller rejects it; the text holds
// no part of the request but the position of a target.
var ErrRequest = errors.New("erasure request refused")

// ErrNamesTarget is the ErrRequest of a request whose id holds the id of a target:
// receipts, logs and file names carry request ids.
var ErrNamesTarget = fmt.Errorf("%w: the request id holds an id that is to be erased", ErrRequest)

// Change is one step of a request's history.
type Change struct {
	State   State       `json:"state"`
	At      time.Time   `json:"at"`
	Failure FailureCode `json:"failure,omitempty"`
}

// Counts says how much a request concerns. It names nothing.
type Counts struct {
	Targets int `json:"nodes"`
	// Held are the transactions and payments that a graph or an open timestep held: targets,
	// those of features, and what carries subjects.
	Held      int `json:"held,omitempty"`
	Timesteps int `json:"timesteps"`
	Payments  int `json:"payments"`
	Labels    int `json:"labels"`
	Slices    int `json:"slices"`
	Shards    int `json:"shards"`
	// Stubs stood for the records in slices of other shards.
	Stubs int `json:"stubs"`
	// SourceRecords, DeadLetters, Predictions and Reasons were found in the topics, or known by
	// their keys, and withdrawn: transactions, payments and labels (those that were dropped as they came, and
	// compacted away before the search, count as one); refused records; predictions
	// of the records; reasons of them or that named them.
	SourceRecords int `json:"source_records"`
	DeadLetters   int `json:"dead_letters"`
	Predictions   int `json:"predictions"`
	Reasons       int `json:"reasons,omitempty"`
	// OfOthers are records of others that named a target, and were published again without it.
	OfOthers int `json:"of_others,omitempty"`
	// Carried are the transactions and payments that went with subjects, SeveralSubjects
	// those of the transactions that carried other subjects too, and went whole.
	Carried         int `json:"carried,omitempty"`
	SeveralSubjects int `json:"several_subjects,omitempty"`
}

// Progress is what the steps find out about a request.
type Progress struct {
	// Fingerprints are the forms searched for. They are added before the first
	// byte is erased: afterwards nobody knows the bytes any more.
	Fingerprints []scan.Fingerprint `json:"fingerprints,omitempty"`
	// Rows tell which of them are forms of features, by transaction.
	Rows []RowForms `json:"rows,omitempty"`
	// NotSearched are the forms that say nothing about the records.
	NotSearched []scan.Kind      `json:"not_searched,omitempty"`
	Timesteps   []lethe.Timestep `json:"timesteps,omitempty"`
	Slices      []SliceRef       `json:"slices,omitempty"`
	Retrained   []lethe.ShardID  `json:"retrained,omitempty"`
	// Refitted are the groups of every component that learn from the shards of Retrained.
	Refitted []RefittedGroups `json:"refitted,omitempty"`
	// Revisions are those at which the request's slices were replaced, by the
	// timestep's place in Timesteps.
	Revisions []lethe.Revision `json:"revisions,omitempty"`
	Counts    Counts           `json:"counts"`
	// Withdrawn says that the records were withdrawn from the topics: from then on
	// nobody needs to know them.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Dropped are the fingerprints that were found in records that were dropped as they came and withdrawn:
	// no search finds these any more, once they are compacted away.
	Dropped []scan.MAC `json:"dropped,omitempty"`
	// Carried are the keyed hashes of what the subjects were carried by when the request was
	// accepted, ascending: they are suppressed with them.
	Carried []lethe.Digest `json:"carried,omitempty"`
	// Found commits to what the first plan of the request has found.
	Found *Found `json:"found,omitempty"`
	// Outcomes are in the order of the request, which may name a target twice.
	Outcomes       []TargetOutcome `json:"outcomes,omitempty"`
	EnsembleBefore lethe.Digest    `json:"ensemble_before,omitzero"`
	EnsembleAfter  lethe.Digest    `json:"ensemble_after,omitzero"`
	// Checkpoints are those of both ensembles.
	Checkpoints CheckpointDigests `json:"checkpoints,omitzero"`
	// Configuration is the digest of the settings that the roles had said when the ensemble
	// was swapped.
	Configuration lethe.Digest `json:"configuration,omitzero"`
	// Replaced are the timesteps of Timesteps with the slices of Slices, by digest.
	Replaced []Replacement `json:"replaced,omitempty"`
	// Erasure is what was searched before the records counted as erased: the places
	// that held them. Verification is what was searched in the end: everything.
	Erasure *scan.Summary `json:"erasure,omitempty"`
	// Searched is the verification by place.
	Searched     []PlaceSearch `json:"searched,omitempty"`
	Verification *scan.Summary `json:"verification,omitempty"`
	// Gone are the folders that were not searched, because an operator has declared them
	// gone for good.
	Gone []GoneFolder `json:"gone_folders,omitempty"`
	// KeptStubs are the stubs that a request at scope shard leaves in slices of other
	// shards, and StubsLeft counts those that were still there when everything was
	// searched. It is nil at other scopes.
	KeptStubs []KeptStubs `json:"kept_stubs,omitempty"`
	StubsLeft *int        `json:"stubs_left,omitempty"`
	// HeldRequests are those whose records the search at the end has found and left alone.
	HeldRequests []HeldRequest `json:"held_requests,omitempty"`
	// WaitsFor says what the request waits for, while it is held.
	WaitsFor *WaitsFor `json:"waits_for,omitempty"`
	// Overdue says that the deadline was seen to pass before the end.
	Overdue bool `json:"overdue,omitempty"`
}

// RowForms are the fingerprints of the features of a transaction that is erased. Another
// one may come that has the same: then finding them says nothing.
type RowForms struct {
	// Content is the hash by which the graphs know the features.
	Content scan.MAC   `json:"content"`
	Forms   []scan.MAC `json:"forms"`
}

// PlaceSearch is what the search of one place came to.
type PlaceSearch struct {
	// Place is a topic, a role whose folder it is, or a folder of the data directory.
	Place string `json:"place"`
	// Instance is the data directory whose folder of a role it is, as its process said. It is
	// empty for other places.
	Instance string `json:"instance,omitempty"`
	// Brokers are those whose copies of a topic were searched, each whole; none where one broker alone
	// keeps it. What was looked at is counted once for each.
	Brokers []int32 `json:"brokers,omitempty"`
	scan.Summary
	// Unreadable are the parts of a topic that were not searched.
	Unreadable []UnreadableBatch `json:"unreadable_batches,omitempty"`
	// Superseded counts records that a later one under their key has replaced, but that
	// are still in the log.
	Superseded int `json:"superseded,omitempty"`
	// ClientNames counts what was found in names that clients gave the embedded broker: of consumer groups and their
	// members, metadata of commits, transactional ids. No record holds it, and it is no hit.
	ClientNames int `json:"client_names,omitempty"`
}

// Entry is what the ledger knows of one request. It holds no id, no feature
// and no text of the request.
type Entry struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	// Digest is that of the request's content (RequestDigest): whoever holds the request can check it.
	Digest lethe.Digest `json:"request_digest,omitzero"`
	Scope  lethe.Scope  `json:"scope"`
	State  State        `json:"state"`
	// FailedIn is the state to retry from, while State is Failed.
	FailedIn State `json:"failed_in,omitempty"`
	// Attempts counts how often a step was begun again after a failure, or a request after a
	// hold.
	Attempts int `json:"attempts"`
	// Batch is set when the request begins to be carried out.
	Batch   Batch    `json:"batch,omitzero"`
	History []Change `json:"history"`
	// Targets are keyed hashes (lethe.Secret.Suppressed), ascending.
	Targets []lethe.Digest `json:"nodes"`
	// Committed is what the transparency log says of the targets.
	Committed
	// Subjects are those of Targets that are subjects, in the order of the request, with the
	// last timestep of what goes, which is NoTimestep until the request is looked at if it
	// does not say one.
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
	// Reason is the keyed hash of the reason's text, zero if there was none.
	Reason lethe.Digest `json:"reason,omitzero"`
	// Deadline is until when it should be verified; zero for none.
	Deadline time.Time `json:"deadline,omitzero"`
	Signatures
	Progress Progress `json:"progress"`
}

// NewEntry makes the entry of a request that has just been received. The
// fingerprints it starts with are those of the ids and pseudonyms, which need
// no snapshot. With ErrNamesTarget the entry is returned too, for the answer to
// the request (Refuse).
func NewEntry(secret lethe.Secret, r lethe.ErasureRequest, at time.Time) (Entry, error) {
	e := Entry{Format: entryFormat, RequestID: r.RequestID, Scope: r.Scope, State: Received}
	if !r.Deadline.IsZero() {
		e.Deadline = record.Time(r.Deadline)
	}
	if e.Scope == "" {
		e.Scope = lethe.ScopeStubs
	}
	if r.Nonce == "" {
		r.Nonce = NonceOf(secret, r.RequestID)
	}
	e.History = []Change{{State: Received, At: record.Time(at)}}
	if r.Reason != "" {
		e.Reason = secret.Ledger().Hash("erasure-reason", []byte(r.Reason))
	}
	if err := lethe.CheckTargets(r.Targets); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	var prints []scan.Fingerprint
	var notSearched []scan.Kind
	var outcomes []TargetOutcome
	for _, t := range r.Targets {
		target := secret.Suppressed(t)
		outcomes = append(outcomes, undecided(secret, t))
		if slices.Contains(e.Targets, target) {
			continue
		}
		if t.Kind == lethe.SubjectTarget {
			e.Subjects = append(e.Subjects, lethe.SubjectUntil{Target: target, Until: t.Until})
		}
		forms, unsearched, err := scan.TargetFingerprints(secret, t)
		if err != nil {
			return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
		}
		prints = append(prints, forms...)
		notSearched = append(notSearched, unsearched...)
		e.Targets = append(e.Targets, target)
	}
	slices.SortFunc(e.Targets, record.CompareDigests)
	slices.Sort(notSearched)
	e.Progress = Progress{
		Fingerprints: prints, NotSearched: slices.Compact(notSearched), Counts: Counts{Targets: len(e.Targets)},
		Outcomes: outcomes,
	}
	r.Scope = e.Scope
	var err error
	if e.Digest, err = RequestDigest(r); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	e.Committed = commit(secret, e.Digest, r.Targets)
	if err := e.Validate(); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if NamesTarget(r) {
		return e, ErrNamesTarget
	}
	return e, nil
}

// clone returns a copy whose lists are its own. What stands behind a pointer is replaced and never changed.
func (e *Entry) clone() Entry {
	c := *e
	ownLists(reflect.ValueOf(&c).Elem())
	return c
}

// ownLists copies the slices in a struct and in the structs in it.
func ownLists(v reflect.Value) {
	for _, field := range v.Fields() {
		switch {
		case field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]():
			ownLists(field)
		case field.Kind() == reflect.Slice && !field.IsNil():
			own := reflect.MakeSlice(field.Type(), field.Len(), field.Len())
			reflect.Copy(own, field)
			field.Set(own)
		}
	}
}

// Received is when the request came.
func (e *Entry) Received() time.Time { return e.History[0].At }

// Updated is when the state last changed.
func (e *Entry) Updated() time.Time { return e.History[len(e.History)-1].At }

// Failure is the code of the last change.
func (e *Entry) Failure() FailureCode { return e.History[len(e.History)-1].Failure }

// Suppresses reports whether the records must be dropped wherever they turn
// up: from Accepted on, without end, unless the request was cancelled or waits for a hold.
func (e *Entry) Suppresses() bool {
	accepted := func(c Change) bool { return c.State == Accepted }
	if n := len(e.History); e.State == Rejected && n > 1 && e.History[n-2].State == Held {
		return false // it was lifted before
	}
	return e.State != Cancelled && e.State != Held && slices.ContainsFunc(e.History, accepted)
}

// Overdue reports whether the deadline passed before the request was verified, as far as
// that was noticed.
func (e *Entry) Overdue() bool {
	late := e.State == Verified && !e.Deadline.IsZero() && e.Updated().After(e.Deadline)
	return late || e.Progress.Overdue
}
