package opendsr

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"

	"lethe/deletions"
	"lethe/internal/outbound"
)

const (
	maxBody       = 1 << 20
	callTimeout   = 10 * time.Second
	actionTimeout = 30 * time.Second
)

// New returns the interface. It reads whom to call back.
func New(o Options) (*Service, error) {
	state, err := readState(o.StatePath)
	if err != nil {
		return nil, err
	}
	return &Service{
		o: o, client: outbound.Client(o.AllowPrivate, callTimeout), state: state, changed: make(chan struct{}, 1),
	}, nil
}

// Handler serves the routes. Who may ask is decided before.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Prefix+"/discovery", s.discovery)
	mux.HandleFunc("GET "+CertificatePath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-pem-file")
		w.Write(s.o.Signer.certificate) //nolint:errcheck // the caller went away
	})
	for _, requests := range []string{"/opendsr_requests", "/opengdpr_requests"} {
		mux.HandleFunc("POST "+Prefix+requests, s.submit)
		mux.HandleFunc("GET "+Prefix+requests+"/{id}", s.status)
		mux.HandleFunc("DELETE "+Prefix+requests+"/{id}", s.cancel)
	}
	mux.HandleFunc("GET "+Prefix+"/status/{id}", s.status)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		Refuse(w, http.StatusNotFound, "nothing is at this address; "+Prefix+"/discovery says what there is")
	})
	return mux
}

// discovery answers as section 6.3 has it.
func (s *Service) discovery(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusOK, map[string]any{
		"api_version":                     APIVersion,
		"supported_identities":            []identity{{Type: typeCustomer, Format: formatRaw}},
		"supported_subject_request_types": []string{typeErasure},
		"processor_certificate":           "https://" + s.o.Domain + CertificatePath,
	})
}

// submit takes a request. One that comes again under an id that is known is refused: lethe would
// compare their contents, and whoever lost an answer asks for the status.
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
	if _, _, err := s.find(asked.ID); err == nil {
		s.fail(w, refuse("subject_request_id is known already: ask for its status"))
		return
	}
	now := s.o.Now().UTC().Truncate(time.Second)
	kept := kept{
		Controller: s.o.Controller(r), Received: now, Expected: what.Deadline, Told: make(map[string]string),
		CallbackURLs: asked.CallbackURLs,
	}
	if what.Deadline.Before(now) {
		what.Deadline = time.Time{} // it is late already, and would be refused
	}
	// Whom to call back is kept first: a request that nobody hears of is worse than one that is not known.
	if err := s.state.put(asked.ID, kept); err != nil {
		s.fail(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actionTimeout)
	defer cancel()
	if err := s.o.Actions.Submit(ctx, what); err != nil {
		s.fail(w, errors.Join(err, s.state.drop(asked.ID)))
		return
	}
	s.answer(w, http.StatusCreated, created{
		kept.Controller, kept.Expected, now, base64.StdEncoding.EncodeToString(body), asked.ID, APIVersion,
	})
	s.wake()
}

// standing is where a request stands.
type standing struct {
	// word is one of OpenDSR's.
	word string
	// more is nil as long as lethe has not read the request.
	more *toldMore
}

// find returns where a request stands. Whoever just asked may be ahead of the view.
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
	return known, standing{statusOf(status.State), &toldMore{status.Result(), status.Summary()}}, nil
}

// unknownController names who asked, once nobody is called back any more and that is forgotten (V38).
const unknownController = "controller"

// keptOf is what is known of a request that nobody is called back for any more.
func keptOf(s *deletions.Status) kept {
	expected := s.Deadline
	if expected.IsZero() {
		expected = s.ReceivedAt.Add(month)
	}
	return kept{Received: s.ReceivedAt, Expected: expected}
}

func (s *Service) status(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	known, status, err := s.find(id)
	if err == nil {
		err = s.o.Actions.Look(r.Context(), id)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	s.answer(w, http.StatusOK, s.tell(id, known, status))
}

// tell is what is said of a request.
func (s *Service) tell(id string, known kept, at standing) told {
	out := told{
		ControllerID: cmp.Or(known.Controller, unknownController), Expected: known.Expected, ID: id, Status: at.word,
		APIVersion: APIVersion,
	}
	if at.more != nil {
		out.Extensions = map[string]toldMore{s.o.Domain: *at.more}
	}
	if at.word == statusCompleted {
		out.ResultsURL = "https://" + s.o.Domain + "/api/v1/erasures/" + id + "/receipt"
	}
	return out
}

func (s *Service) cancel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
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
	s.answer(w, http.StatusAccepted, cancelled{known.Controller, id, s.o.Now().UTC().Truncate(time.Second), APIVersion})
	s.wake()
}

// wake has callbacks looked at.
func (s *Service) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
