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

// ErasureRequest asks to forget transactions, payments, features or subjects. Ids stand in the body.
type ErasureRequest struct {
	// RequestID names the request; made up if it is empty.
	RequestID string   `json:"request_id,omitempty"`
	Nodes     []string `json:"nodes,omitempty"`
	// Edges are payments as "A>B", Features those of transactions as "ID" or "ID>0,7".
	Edges    []string `json:"edges,omitempty"`
	Features []string `json:"features,omitempty"`
	// Subjects are erased up to the timestep Until, or without it the newest.
	Subjects []string        `json:"subjects,omitempty"`
	Until    *lethe.Timestep `json:"until,omitempty"`
	Scope    string          `json:"scope,omitempty"`
	// Reason is kept as a keyed hash alone.
	Reason string `json:"reason,omitempty"`
	// Deadline is when it should be verified.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Submitted says under what a request is followed.
type Submitted struct {
	RequestID     string       `json:"request_id"`
	RequestDigest lethe.Digest `json:"request_digest"`
}

// Actions change something, through the topics as the commands do. Their errors are Problems where
// the one who asked has to do something about it.
type Actions struct {
	// Replay sends the records of dead letters again, Submit a request for erasure, and Cancel takes
	// one back. A zero digest stands for the request that has the name.
	Replay func(ctx context.Context, places []string) (ReplayAnswer, error)
	Submit func(ctx context.Context, r ErasureRequest) (Submitted, error)
	Cancel func(ctx context.Context, requestID string, digest lethe.Digest) (deletions.Status, error)
	// Holds lists the holds, SetHold sets one, LiftHold ends the one in force that has the name.
	Holds    func(ctx context.Context) ([]Hold, error)
	SetHold  func(ctx context.Context, r HoldRequest) (Hold, error)
	LiftHold func(ctx context.Context, name string) (Hold, error)
	// Label publishes what a transaction was.
	Label func(ctx context.Context, l lethe.LabelRecord) error
	// Look writes down that who asks sees the status or receipt of a request, or, if it is empty, the
	// list of them. Nothing is shown before.
	Look func(ctx context.Context, requestID string) error
}

func (a *API) submit(_ *view.Reader, r *http.Request) (any, error) {
	var asked ErasureRequest
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	return a.o.Actions.Submit(r.Context(), asked)
}

func (a *API) cancel(v *view.Reader, r *http.Request) (any, error) {
	found, err := requestAt(v, r)
	requestID, digest := found.RequestID, found.RequestDigest
	switch {
	case errors.Is(err, errNoRequest):
		requestID = r.PathValue("key") // it may just have been submitted, and the view is behind
	case err != nil:
		return nil, err
	case found.State == deletions.Rejected:
		return nil, problem(http.StatusConflict, "the request was rejected: there is nothing to take back")
	}
	s, err := a.o.Actions.Cancel(r.Context(), requestID, digest)
	return s.Report(), err
}

// LabelRequest says what a transaction was: illicit, licit, or unknown, which takes back what was
// said before.
type LabelRequest struct {
	Label string `json:"label"`
}

// LabelAnswer is the label as it was published. It is a transaction's as soon as its timestep has
// taken it.
type LabelAnswer struct {
	Label string `json:"label"`
}

func (a *API) label(v *view.Reader, r *http.Request) (any, error) {
	var asked LabelRequest
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	labels := map[string]lethe.Label{
		lethe.Illicit.String(): lethe.Illicit, lethe.Licit.String(): lethe.Licit, lethe.Unknown.String(): lethe.Unknown,
	}
	label, known := labels[asked.Label]
	if !known {
		return nil, problem(http.StatusBadRequest, "label is none of illicit, licit, unknown")
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
