package opendsr

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"lethe/deletions"
	"lethe/internal/outbound"
)

const (
	maxBody       = 1 << 20
	callTimeout   = 10 * time.Second
	actionTimeout = 30 * time.Second
)

// New returns the interface. It reads the stored callbacks.
func New(o Options) (*Service, error) {
	state, err := readState(o.StatePath)
	if err != nil {
		return nil, err
	}
	return &Service{
		o: o, client: outbound.Client(o.AllowPrivate, callTimeout), state: state, changed: make(chan struct{}, 1),
	}, nil
}

// Handler serves the routes. Authentication happens before.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+CertificatePath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-pem-file")
		w.Write(s.o.Signer.certificate) //nolint:errcheck // the caller went away
	})
	for _, version := range []string{"v1", "v3"} {
		at := Prefix + version
		mux.HandleFunc("GET "+at+"/discovery", s.discovery)
		for _, requests := range []string{"/requests", "/opendsr_requests", "/opengdpr_requests"} {
			mux.HandleFunc("POST "+at+requests, s.submit)
			mux.HandleFunc("POST "+at+requests+"/{$}", s.submit)
			mux.HandleFunc("GET "+at+requests+"/{id}", s.status)
			mux.HandleFunc("DELETE "+at+requests+"/{id}", s.cancel)
		}
		mux.HandleFunc("GET "+at+"/status/{id}", s.status)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		Refuse(w, http.StatusNotFound, "nothing is at this address: "+Prefix+"v1 and "+Prefix+"v3 have discovery, and "+
			"requests by POST")
	})
	return mux
}

// versionOf is the version of the specification in the request's path.
func versionOf(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, Prefix+"v3/") {
		return "3.0"
	}
	return firstVersion
}

// discovery responds as defined in section 6.3.
func (s *Service) discovery(w http.ResponseWriter, r *http.Request) {
	s.answer(w, http.StatusOK, map[string]any{
		"api_version":                     versionOf(r),
		"supported_identities":            []identity{{Type: typeCustomer, Format: formatRaw}},
		"supported_subject_request_types": []string{typeErasure},
		"processor_certificate":           "https://" + s.o.Domain + CertificatePath,
	})
}

// submit accepts a request. A known id is rejected: lethe would compare the contents, and a client
// that lost the response can query the status.
func (s *Service) submit(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		s.fail(w, refuse("the body could not be read, or is larger than 1 MiB"))
		return
	}
	asked, what, err := s.parse(body)
	if err != nil {
		s.fail(w, err)
		return
	}
	if _, _, err := s.find(what.RequestID); err == nil {
		s.fail(w, refuse("subject_request_id is known already: ask for its status"))
		return
	}
	now := s.o.Now().UTC().Truncate(time.Second)
	kept := kept{
		Controller: s.o.Controller(r), Received: now, Expected: what.Deadline, Accepted: make(map[string]string),
		CallbackURLs: asked.CallbackURLs, Spelling: asked.ID, Version: versionOf(r), Ignored: what.Ignored,
	}
	if what.Deadline.Before(now) {
		what.Deadline = time.Time{} // it has already passed, and would be rejected
	}
	// The callbacks are stored first: a request without callbacks is worse than callbacks without a
	// request.
	if err := s.state.put(what.RequestID, kept); err != nil {
		s.fail(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actionTimeout)
	defer cancel()
	if err := s.o.Actions.Submit(ctx, what); err != nil {
		s.fail(w, errors.Join(err, s.state.drop(what.RequestID)))
		return
	}
	s.answer(w, http.StatusCreated, created{
		kept.controller(), kept.Expected, now, base64.StdEncoding.EncodeToString(body), asked.ID, kept.Version,
		s.extensions(details{Ignored: what.Ignored}),
	})
	s.wake()
}

// standing is the status of a request.
type standing struct {
	// word is a status of OpenDSR.
	word string
	// more is empty as long as lethe has not consumed the request.
	more details
}

// find returns the status of a request. The view may be behind a request that was just submitted.
func (s *Service) find(id string) (kept, standing, error) {
	nothing := &RefusedError{http.StatusNotFound, "there is no such request"}
	if !guid.MatchString(id) {
		return kept{}, standing{}, nothing
	}
	known, found := s.state.get(id)
	v := s.o.View()
	if v == nil {
		return known, standing{}, &RefusedError{http.StatusServiceUnavailable, "lethe is starting"}
	}
	status, err := v.Requests().Status(id)
	switch {
	case err != nil:
		return known, standing{}, err
	case status == nil && !found:
		return known, standing{}, nothing
	case status == nil:
		return known, standing{word: statusPending}, nil
	}
	if !found {
		known = keptOf(status)
	}
	return known, standing{statusOf(status.State), details{Result: status.Result(), Summary: status.Summary()}}, nil
}

// keptOf is the remaining data of a request without pending callbacks.
func keptOf(s *deletions.Status) kept {
	expected := s.Deadline
	if expected.IsZero() {
		expected = s.ReceivedAt.Add(month)
	}
	return kept{Received: s.ReceivedAt, Expected: expected}
}

func (s *Service) status(w http.ResponseWriter, r *http.Request) {
	spelling := r.PathValue("id")
	id := strings.ToLower(spelling)
	known, status, err := s.find(id)
	if err == nil {
		err = s.o.Actions.Look(r.Context(), id)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	known.Spelling, known.Version = spelling, versionOf(r)
	s.answer(w, http.StatusOK, s.answerOf(id, known, status))
}

// answerOf builds the status of a request.
func (s *Service) answerOf(id string, known kept, at standing) statusAnswer {
	out := statusAnswer{
		ControllerID: known.controller(), Expected: known.Expected, ID: cmp.Or(known.Spelling, id), Status: at.word,
		APIVersion: cmp.Or(known.Version, firstVersion),
	}
	at.more.Ignored = known.Ignored
	out.Extensions = s.extensions(at.more)
	if at.word == statusCompleted {
		out.ResultsURL = "https://" + s.o.Domain + "/api/v1/erasures/" + id + "/receipt"
	}
	return out
}

func (s *Service) cancel(w http.ResponseWriter, r *http.Request) {
	spelling := r.PathValue("id")
	id := strings.ToLower(spelling)
	known, _, err := s.find(id)
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), actionTimeout)
		defer cancel()
		err = s.o.Actions.Cancel(ctx, id)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	s.answer(w, http.StatusAccepted, cancelled{
		known.controller(), spelling, s.o.Now().UTC().Truncate(time.Second), versionOf(r),
	})
	s.wake()
}

// wake triggers a check for due callbacks.
func (s *Service) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
