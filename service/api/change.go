package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/view"
)

// ErasureRequest requests the erasure of transactions, payments, features or subjects. Ids are in
// the body.
type ErasureRequest struct {
	// RequestID identifies the request; it is generated if empty.
	RequestID string   `json:"request_id,omitempty"`
	Nodes     []string `json:"nodes,omitempty"`
	// Edges are payments as "A>B", Features those of transactions as "ID" or "ID>0,7".
	Edges    []string `json:"edges,omitempty"`
	Features []string `json:"features,omitempty"`
	// Subjects are erased up to the timestep Until, or by default the newest.
	Subjects []string        `json:"subjects,omitempty"`
	Until    *lethe.Timestep `json:"until,omitempty"`
	Scope    string          `json:"scope,omitempty"`
	// Reason is stored only as a keyed hash.
	Reason string `json:"reason,omitempty"`
	// Deadline is when the erasure should be verified.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Submitted identifies a submitted request.
type Submitted struct {
	RequestID     string       `json:"request_id"`
	RequestDigest lethe.Digest `json:"request_digest"`
}

// Actions change data, through the topics like the commands do. Their errors are Problems if the
// caller has to act on them.
type Actions struct {
	// Replay publishes the records of dead letters again, Submit an erasure request, and Cancel
	// cancels one. A zero digest means the request with that name.
	Replay func(ctx context.Context, places []string) (ReplayAnswer, error)
	Submit func(ctx context.Context, r ErasureRequest) (Submitted, error)
	Cancel func(ctx context.Context, requestID string, digest lethe.Digest) (deletions.Status, error)
	// Holds lists the holds, SetHold sets one, LiftHold ends the active one with the name.
	Holds    func(ctx context.Context) ([]Hold, error)
	SetHold  func(ctx context.Context, r HoldRequest) (Hold, error)
	LiftHold func(ctx context.Context, name string) (Hold, error)
	// Label publishes the label of a transaction.
	Label func(ctx context.Context, l lethe.LabelRecord) error
	// Look logs that the caller sees the status or receipt of a request, or, if it is empty, the
	// list of requests. It is called before anything is shown.
	Look func(ctx context.Context, requestID string) error
}

func (a *API) cancel(v *view.Reader, r *http.Request) (any, error) {
	found, err := requestAt(v, r)
	requestID, digest := found.RequestID, found.RequestDigest
	switch {
	case errors.Is(err, errNoRequest):
		requestID = r.PathValue("key") // it may have been submitted just now, and the view may be behind
	case err != nil:
		return nil, err
	case found.State == deletions.Rejected:
		return nil, NewProblem(http.StatusConflict, "the request was rejected: there is nothing to take back")
	}
	s, err := a.o.Actions.Cancel(r.Context(), requestID, digest)
	return s.Report(), err
}

// LabelRequest sets the label of a transaction: illicit, licit, or unknown, which removes a
// previous label.
type LabelRequest struct {
	Label string `json:"label"`
}

// LabelAnswer is the label as published. It takes effect once the transaction's timestep has
// consumed it.
type LabelAnswer struct {
	Label string `json:"label"`
}

func (a *API) label(v *view.Reader, r *http.Request) (any, error) {
	var asked LabelRequest
	if err := ReadBody(r, maxBody, &asked); err != nil {
		return nil, err
	}
	labels := map[string]lethe.Label{
		lethe.Illicit.String(): lethe.Illicit, lethe.Licit.String(): lethe.Licit, lethe.Unknown.String(): lethe.Unknown,
	}
	label, known := labels[asked.Label]
	if !known {
		return nil, NewProblem(http.StatusBadRequest, "label is not one of illicit, licit, unknown")
	}
	ref, ok := refIn(r)
	if !ok {
		return nil, errNothing
	}
	of, err := v.Transaction(ref)
	if err == nil && of == nil {
		err = errNothing
	}
	if err == nil {
		err = a.o.Actions.Label(r.Context(), lethe.LabelRecord{ID: of.ID, Timestep: of.Timestep, Label: label})
	}
	return LabelAnswer{label.String()}, err
}
