package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/view"
)

// Erasure is the status of one request.
type Erasure struct {
	deletions.Report
	// SameName are the digests of other requests with the same name. At most one request of a name
	// is carried out: the others were rejected.
	SameName []lethe.Digest `json:"same_name,omitempty"`
	// Signers is set while the request waits for a signature, if the process has the file of keys.
	Signers Signers `json:"signers,omitzero"`
}

func erasures(v *view.Reader, r *http.Request) (any, string, error) {
	q := query{r: r}
	q.only("limit", "cursor")
	limit, after := q.limit(), q.cursor()
	if q.err != nil {
		return nil, "", q.err
	}
	list, next, err := v.Requests().Statuses(string(after), limit)
	if err != nil {
		return nil, "", err
	}
	out := Page[deletions.Report]{Items: deletions.Reports(list)}
	if next != "" {
		out.NextCursor = cursorOf([]byte(next))
	}
	return out, "", nil
}

// errNoRequest means that no request has the name or digest in the path.
var errNoRequest = NewProblem(http.StatusNotFound, "there is no such request")

// requestAt finds a request by the digest or name in the path.
func requestAt(v *view.Reader, r *http.Request) (Erasure, error) {
	s, others, err := v.Requests().Find(r.PathValue("key"))
	switch {
	case errors.Is(err, view.ErrSeveral):
		return Erasure{}, NewProblem(http.StatusBadRequest, "several requests have a digest that begins so: give more digits")
	case err != nil:
		return Erasure{}, err
	case s == nil:
		return Erasure{}, errNoRequest
	}
	return Erasure{Report: s.Report(), SameName: others}, nil
}

func (a *API) erasure(v *view.Reader, r *http.Request) (any, string, error) {
	found, err := requestAt(v, r)
	if err == nil {
		found.Signers = a.signersOf(&found.Status)
	}
	return found, found.RequestID, err
}

// receipt responds with the signed receipt unchanged: it contains the proof that it is in the log.
func receipt(v *view.Reader, r *http.Request) (any, string, error) {
	found, err := requestAt(v, r)
	requestID := found.RequestID
	switch {
	case errors.Is(err, errNoRequest):
		requestID = r.PathValue("key") // the receipt may have arrived before the status
	case err != nil:
		return nil, "", err
	case found.State != deletions.Verified:
		return nil, "", NewProblem(http.StatusNotFound, "there is no receipt: the request is not verified")
	}
	signed, readErr := v.Receipt(requestID)
	switch {
	case readErr != nil:
		return nil, "", readErr
	case signed == nil && err == nil:
		return nil, "", NewProblem(http.StatusNotFound, "there is no receipt yet")
	case signed == nil:
		return nil, "", err
	}
	return json.RawMessage(signed), requestID, nil
}

// aboutRequest is a query about requests, which also returns the name of the request in the response.
type aboutRequest func(v *view.Reader, r *http.Request) (answer any, requestID string, err error)

// looked serves a query about erasures after the access was logged. If nothing is found, no access is
// logged.
func (a *API) looked(q aboutRequest) question {
	return func(v *view.Reader, r *http.Request) (any, error) {
		answer, requestID, err := q(v, r)
		if err == nil {
			err = a.o.Actions.Look(r.Context(), requestID)
		}
		return answer, err
	}
}
