package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"lethe/internal/swapstore"
	"lethe/pipeline/view"
)

// Problem is an error as defined by RFC 9457. Its texts repeat nothing from the request.
//
//nolint:errname // what the standard calls it
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// NewProblem returns an error that is sent as a response with a status. Its text must repeat
// nothing from the request.
func NewProblem(status int, detail string) *Problem {
	return &Problem{"about:blank", http.StatusText(status), status, detail}
}

// Refuse responds with a problem, whose text must repeat nothing from the request.
func Refuse(w http.ResponseWriter, status int, detail string) {
	h := w.Header()
	h.Del("ETag")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(NewProblem(status, detail)) //nolint:errcheck // the caller went away
}

// errNothing means that the object does not exist.
var errNothing = errors.New("there is no such thing")

// question is a query of the view.
type question func(v *view.Reader, r *http.Request) (answer any, err error)

// orNothing returns the object, or errNothing if it is nil.
func orNothing[T any](found *T, err error) (any, error) {
	if err == nil && found == nil {
		err = errNothing
	}
	return found, err
}

// asked returns the handler of a query.
func (a *API) asked(q question) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := a.o.View()
		if v == nil {
			Refuse(w, http.StatusServiceUnavailable, "this process does not play view, or is starting; see /readyz")
			return
		}
		answer, err := q(v, r)
		var problem *Problem
		switch {
		case errors.As(err, &problem):
			Refuse(w, problem.Status, problem.Detail)
		case errors.Is(err, view.ErrCursor):
			Refuse(w, http.StatusBadRequest, "cursor is not one that a page has ended with: begin from the first page")
		case errors.Is(err, swapstore.ErrClosed):
			Refuse(w, http.StatusServiceUnavailable, "lethe is stopping")
		case errors.Is(err, errNothing):
			Refuse(w, http.StatusNotFound, "there is no such thing")
		case err != nil:
			a.o.Logger.Error("a question to the API", "route", r.Pattern, "error", err)
			Refuse(w, http.StatusInternalServerError, "the question could not be answered; the log says why")
		default:
			answerJSON(w, r, answer)
		}
	}
}

func answerJSON(w http.ResponseWriter, r *http.Request, what any) {
	body, err := json.Marshal(what)
	if err != nil {
		Refuse(w, http.StatusInternalServerError, "the answer has no JSON")
		return
	}
	answerBytes(w, r, "application/json", append(body, '\n'))
}

// answerBytes responds with a body and its entity tag, or with the status that it has not changed.
func answerBytes(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	if isRead(r) && matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", kind)
	w.Write(body) //nolint:errcheck // the caller went away
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// matches reports whether an If-None-Match header contains a tag.
func matches(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == "*" || one == tag {
			return true
		}
	}
	return false
}
