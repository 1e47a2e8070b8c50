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
	entryFormat       = "lethe-ledger/1"
	maxRequestIDBytes = 128
)

// ErrRequest marks an invalid erasure request, to be rejected. Its text holds nothing of the request but a target's
// position.
var ErrRequest = errors.New("erasure request refused")

// ErrNamesTarget is the ErrRequest of a request id that contains a target's id: receipts, logs and file names show
// request ids.
var ErrNamesTarget = fmt.Errorf("%w: the request id holds an id that is to be erased", ErrRequest)

// Change is one step of a request's history.
type Change struct {
	State   State       `json:"state"`
	At      time.Time   `json:"at"`
	Failure FailureCode `json:"failure,omitempty"`
}

// Counts are the numbers of a request. They name nothing.
type Counts struct {
	Targets int `json:"nodes"`
	// Held are the transactions and payments held by a graph or an open timestep: targets, also for their features, and
	// carriers of subjects.
	Held      int `json:"held,omitempty"`
	Timesteps int `json:"timesteps"`
	Payments  int `json:"payments"`
	Labels    int `json:"labels"`
	Slices    int `json:"slices"`
	Shards    int `json:"shards"`
	// Stubs are the stubs for the records in slices of other shards.
	Stubs int `json:"stubs"`
	// SourceRecords (transactions, payments, labels), DeadLetters, Predictions and Reasons are the records tombstoned,
	// found in the topics or known by key. Records dropped on arrival and compacted before the search count as one.
	SourceRecords int `json:"source_records"`
	DeadLetters   int `json:"dead_letters"`
	Predictions   int `json:"predictions"`
	Reasons       int `json:"reasons,omitempty"`
	// OfOthers are other transactions' records that named a target and were republished without it.
	OfOthers int `json:"of_others,omitempty"`
	// Carried are the transactions and payments erased with subjects, SeveralSubjects those of them with other subjects
	// too.
	Carried         int `json:"carried,omitempty"`
	SeveralSubjects int `json:"several_subjects,omitempty"`
}

// Progress is the state of a request's steps.
type Progress struct {
	// Fingerprints are the forms searched for, added before anything is erased: later the bytes are unknown.
	Fingerprints []scan.Fingerprint `json:"fingerprints,omitempty"`
	// Rows are the fingerprints of features, by transaction.
	Rows []RowForms `json:"rows,omitempty"`
	// NotSearched are the forms that would not identify the records.
	NotSearched []scan.Kind      `json:"not_searched,omitempty"`
	Timesteps   []lethe.Timestep `json:"timesteps,omitempty"`
	Slices      []SliceRef       `json:"slices,omitempty"`
	Retrained   []lethe.ShardID  `json:"retrained,omitempty"`
	// Refitted are the groups of every component that learn from the shards of Retrained.
	Refitted []RefittedGroups `json:"refitted,omitempty"`
	// Revisions are the revisions at which slices were replaced, parallel to Timesteps.
	Revisions []lethe.Revision `json:"revisions,omitempty"`
	Counts    Counts           `json:"counts"`
	// Withdrawn means that the records were tombstoned in the topics: the targets are no longer needed.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Dropped are the fingerprints found in records dropped on arrival; once compacted, no search finds these.
	Dropped []scan.MAC `json:"dropped,omitempty"`
	// Carried are the keyed hashes, ascending, of carriers of the subjects at acceptance. They are suppressed too.
	Carried []lethe.Digest `json:"carried,omitempty"`
	// Found are the commitments to the result of the first plan.
	Found *Found `json:"found,omitempty"`
	// Outcomes are in request order; a request may name a target twice.
	Outcomes       []TargetOutcome   `json:"outcomes,omitempty"`
	EnsembleBefore lethe.Digest      `json:"ensemble_before,omitzero"`
	EnsembleAfter  lethe.Digest      `json:"ensemble_after,omitzero"`
	Checkpoints    CheckpointDigests `json:"checkpoints,omitzero"`
	// Configuration is the digest of the roles' shared settings at the time of the swap.
	Configuration lethe.Digest `json:"configuration,omitzero"`
	// Replaced are Timesteps and Slices by digest.
	Replaced []Replacement `json:"replaced,omitempty"`
	// Erasure summarises the search of the places that held the records, Verification the final search of everything.
	Erasure *scan.Summary `json:"erasure,omitempty"`
	// Searched is Verification by place.
	Searched     []PlaceSearch `json:"searched,omitempty"`
	Verification *scan.Summary `json:"verification,omitempty"`
	// Gone are the folders not searched because an operator declared them gone.
	Gone []GoneFolder `json:"gone_folders,omitempty"`
	// KeptStubs are the stubs that scope shard leaves in slices of other shards, StubsLeft how many the final search
	// still found; nil at other scopes.
	KeptStubs []KeptStubs `json:"kept_stubs,omitempty"`
	StubsLeft *int        `json:"stubs_left,omitempty"`
	// HeldRequests are those whose own records the final search found and left alone.
	HeldRequests []HeldRequest `json:"held_requests,omitempty"`
	// WaitsFor is set while the request is held.
	WaitsFor *WaitsFor `json:"waits_for,omitempty"`
	// Overdue means that the deadline passed first.
	Overdue bool `json:"overdue,omitempty"`
}

// RowForms are the fingerprints of one erased transaction's features. They are not searched once another one has the
// same.
type RowForms struct {
	Content scan.MAC   `json:"content"`
	Forms   []scan.MAC `json:"forms"`
}

// PlaceSearch is the result of searching one place.
type PlaceSearch struct {
	// Place is a topic, a role (for its folder) or a folder of the data directory.
	Place string `json:"place"`
	// Instance is the data directory of a role's folder; empty for other places.
	Instance string `json:"instance,omitempty"`
	// Brokers are those whose copies of a topic were searched, each counted in full; empty if one broker has the only
	// copy.
	Brokers []int32 `json:"brokers,omitempty"`
	scan.Summary
	// Unreadable are the parts of a topic not searched.
	Unreadable []UnreadableBatch `json:"unreadable_batches,omitempty"`
	// Superseded counts records replaced by a later one of their key that are still in the log.
	Superseded int `json:"superseded,omitempty"`
	// ClientNames counts matches in names that clients chose (groups, commit metadata, transactional ids). They are no
	// hits.
	ClientNames int `json:"client_names,omitempty"`
}

// Entry is the ledger's record of one request: it contains no id, feature or text of it.
type Entry struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	// Digest is RequestDigest of the request.
	Digest lethe.Digest `json:"request_digest,omitzero"`
	Scope  lethe.Scope  `json:"scope"`
	State  State        `json:"state"`
	// FailedIn is the state to retry from, while State is Failed.
	FailedIn State `json:"failed_in,omitempty"`
	// Attempts counts retries of a step and returns from a hold.
	Attempts int `json:"attempts"`
	// Batch is set when the request begins to be carried out.
	Batch   Batch    `json:"batch,omitzero"`
	History []Change `json:"history"`
	// Targets are keyed hashes (lethe.Secret.Suppressed), ascending.
	Targets []lethe.Digest `json:"nodes"`
	Committed
	// Subjects are the targets that are subjects, in request order, each with the last timestep to erase; NoTimestep
	// until that is decided.
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
	// Reason is the keyed hash of the reason, zero for none.
	Reason lethe.Digest `json:"reason,omitzero"`
	// Deadline is when the request should be verified, zero for none.
	Deadline time.Time `json:"deadline,omitzero"`
	Signatures
	Progress Progress `json:"progress"`
}

// NewEntry makes the entry of a received request, with the fingerprints that need no snapshot. With ErrNamesTarget
// it returns the entry too, for the rejection (Refuse).
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

// clone returns a copy with slices of its own. Values behind pointers are never changed in place.
func (e *Entry) clone() Entry {
	c := *e
	ownLists(reflect.ValueOf(&c).Elem())
	return c
}

// ownLists copies the slices of a struct and of the structs in it.
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

// Received is when the request was received.
func (e *Entry) Received() time.Time { return e.History[0].At }

// Updated is when the state last changed.
func (e *Entry) Updated() time.Time { return e.History[len(e.History)-1].At }

// Failure is the code of the last change.
func (e *Entry) Failure() FailureCode { return e.History[len(e.History)-1].Failure }

// Suppresses reports whether records of the targets must be dropped: from Accepted on, unless cancelled or held.
func (e *Entry) Suppresses() bool {
	accepted := func(c Change) bool { return c.State == Accepted }
	if n := len(e.History); e.State == Rejected && n > 1 && e.History[n-2].State == Held {
		return false // it was lifted before
	}
	return e.State != Cancelled && e.State != Held && slices.ContainsFunc(e.History, accepted)
}

// Overdue reports whether the deadline passed before the request was verified.
func (e *Entry) Overdue() bool {
	late := e.State == Verified && !e.Deadline.IsZero() && e.Updated().After(e.Deadline)
	return late || e.Progress.Overdue
}

// Batch names the requests of one scope that run together: one rewrite, one replay of every shard, one command.
type Batch struct {
	// Leader is the request whose id names the batch in commands and acknowledgements.
	Leader string `json:"leader"`
	Size   int    `json:"size"`
}

// Leader is the leader of the entry's batch, or the entry's own request if it has no batch.
func (e *Entry) Leader() string {
	if e.Batch.Leader == "" {
		return e.RequestID
	}
	return e.Batch.Leader
}
