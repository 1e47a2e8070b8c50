package service

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/requests"
	"lethe/service/api"
	"lethe/service/guard"
	"lethe/service/opendsr"
	"lethe/service/supervisor"
)

// changes are the API's actions that change data, through the topics like the commands do.
type changes struct{ *Service }

func (c changes) actions() api.Actions {
	return api.Actions{
		Replay: c.replay, Submit: c.submit, Cancel: c.cancel, Label: c.label, Look: c.look,
		Holds: c.holds, SetHold: c.setHold, LiftHold: c.liftHold,
	}
}

// changeTimeout bounds how long brokers, or the process that carries out erasures, may take.
const changeTimeout = 20 * time.Second

// refused converts a broker's rejection or timeout to a problem, and logs the error.
func (c changes) refused(what string, err error) error {
	var problem *api.Problem
	if err == nil || errors.As(err, &problem) {
		return err
	}
	c.o.Logger.Error(what, "error", err)
	return api.NewProblem(http.StatusServiceUnavailable, "the brokers did not take it; the log says why")
}

// ready returns an error if the topics are not available yet.
func (c changes) ready() error {
	if !c.open.Load() {
		return api.NewProblem(http.StatusServiceUnavailable, "lethe is starting; see /readyz")
	}
	return nil
}

// replay publishes the records of dead letters again.
func (c changes) replay(ctx context.Context, places []string) (out api.ReplayAnswer, err error) {
	if err := c.ready(); err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	chosen, err := deadletters.List(ctx, c.client, deadletters.Filter{Places: places})
	if errors.Is(err, deadletters.ErrUnknown) {
		return out, api.NewProblem(http.StatusNotFound, "no dead letter is of one of the places; nothing was sent")
	}
	if err != nil {
		return out, c.refused("dead letters could not be read", err)
	}
	if err := c.note(ctx, translog.DeedReplay, "", len(chosen)); err != nil {
		return out, err
	}
	in := c.config.Ingest
	rules := deadletters.Rules{Limits: in.Limits(), First: in.FirstTimestep, Jump: in.MaxTimestepJump}
	chosen, again, err := rules.Part(ctx, c.client, chosen)
	if err != nil {
		return out, c.refused("dead letters could not be checked", err)
	}
	sent, refused, err := deadletters.Replay(ctx, c.client, chosen, c.o.Now())
	refused = append(refused, again...)
	out = api.ReplayAnswer{Sent: sent, Refused: []api.RefusedLetter{}}
	for _, r := range refused {
		out.Refused = append(out.Refused, api.RefusedLetter{Place: r.Place(), Why: r.Why.Error()})
	}
	return out, c.refused("dead letters could not be sent again", err)
}

// submit publishes an erasure request.
func (c changes) submit(ctx context.Context, asked api.ErasureRequest) (out api.Submitted, err error) {
	if err := c.ready(); err != nil {
		return out, err
	}
	if c.config.Signatures.Requests > 0 {
		return out, api.NewProblem(http.StatusConflict, "requests must be signed by people: lethe erase submit --sign FILE")
	}
	request, err := c.requestOf(asked)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if deletions.NamesTarget(request) { // an access stores its hash
		return out, namesTarget()
	}
	digest, known, err := c.submittedBefore(request)
	if err != nil || known {
		return api.Submitted{RequestID: request.RequestID, RequestDigest: digest}, err
	}
	if err := c.note(ctx, translog.DeedSubmit, request.RequestID, len(request.Targets)); err != nil {
		return out, err
	}
	submitted, err := requests.Submit(ctx, c.client, request, c.o.Now())
	return api.Submitted{RequestID: submitted.RequestID, RequestDigest: submitted.Digest},
		c.refused("a request for erasure could not be published", err)
}

// submittedBefore returns the digest of a request, and whether it was submitted before, so that it is not published
// again. It rejects a request whose name is known to belong to another one: the view may be behind, and does not
// know reasons. If the name is taken but unknown here, the request is later rejected with request_id_conflict.
func (c changes) submittedBefore(request lethe.ErasureRequest) (digest lethe.Digest, known bool, err error) {
	v := c.view.Load()
	if v == nil {
		return digest, false, nil
	}
	s, err := v.Requests().Status(request.RequestID)
	if err != nil || s == nil {
		return digest, false, err
	}
	if digest, err = deletions.RequestDigest(request); err != nil {
		return digest, false, err
	}
	if digest == s.RequestDigest || s.AsksTheSame(c.secret, request) {
		return digest, digest == s.RequestDigest, nil
	}
	return digest, false, api.NewProblem(http.StatusConflict, "another request has the name in request_id: its digest is "+
		s.RequestDigest.String()+"; give yours another name")
}

// namesTarget rejects a request whose name contains a target and would outlive it.
func namesTarget() error {
	return api.NewProblem(http.StatusBadRequest, "request_id holds an id that is to be erased, and request ids are kept")
}

// requestOf validates a submitted request.
func (c changes) requestOf(asked api.ErasureRequest) (r lethe.ErasureRequest, err error) {
	plan := PlanRequest{
		Nodes: asked.Nodes, Edges: asked.Edges, Features: asked.Features, Subjects: asked.Subjects, Until: asked.Until,
	}
	if asked.Scope != "" {
		plan.Scopes = []string{asked.Scope}
	}
	q, err := plan.question(c.config.Ingest.Records)
	if err != nil {
		return r, api.NewProblem(http.StatusBadRequest, err.Error())
	}
	r = lethe.ErasureRequest{
		RequestID: asked.RequestID, Targets: q.Targets, Scope: lethe.Scope(asked.Scope), Reason: asked.Reason,
		Deadline: asked.Deadline,
	}
	if !r.Deadline.IsZero() {
		r.Deadline = r.Deadline.UTC().Truncate(time.Millisecond)
	}
	if r.RequestID == "" {
		if r.RequestID, err = requests.NewID(rand.Reader); err != nil {
			return r, err
		}
	}
	// The same content with the same name is the same request, however often it is sent.
	r.Nonce = deletions.NonceOf(c.secret, r.RequestID)
	if err := lethe.CheckTargets(r.Targets); err != nil {
		return r, api.NewProblem(http.StatusBadRequest, err.Error())
	}
	var refusal *ingest.Refusal
	if _, _, err := ingest.EncodeErasure(r, c.o.Now()); errors.As(err, &refusal) {
		return r, api.NewProblem(http.StatusBadRequest, refusal.Detail)
	} else if err != nil {
		return r, err
	}
	return r, nil
}

// cancel cancels a request, and waits for the result.
func (c changes) cancel(ctx context.Context, requestID string, digest lethe.Digest) (s deletions.Status, err error) {
	if err := c.ready(); err != nil {
		return s, err
	}
	if c.config.Signatures.Requests > 0 {
		return s, api.NewProblem(http.StatusConflict,
			"cancellations must be signed by people: lethe erase cancel --sign FILE")
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := c.note(ctx, translog.DeedCancel, requestID, 0); err != nil {
		return s, err
	}
	s, err = requests.Cancel(ctx, c.client, requestID, digest, c.o.Now())
	switch {
	case errors.Is(err, requests.ErrUnknown):
		return s, api.NewProblem(http.StatusNotFound, "there is no such request")
	case errors.Is(err, requests.ErrDigest):
		return s, api.NewProblem(http.StatusConflict, "another request has this name now: look at it again")
	case errors.Is(err, requests.ErrTooLate):
		return s, api.NewProblem(http.StatusConflict, "too late: a request can be taken back until it is rewriting")
	default:
		return s, c.refused("a request could not be taken back", err)
	}
}

// OpenDSRPath is the file of a data directory with the pending OpenDSR callbacks: ids of requests,
// without their targets.
func OpenDSRPath(dataDir string) string { return filepath.Join(dataDir, "opendsr", "state.json") }

// serveOpenDSR serves the OpenDSR interface next to the API, if it is configured.
func (s *Service) serveOpenDSR(mux *http.ServeMux) error {
	c := s.config.OpenDSR
	if !c.Enabled() {
		return nil
	}
	signer, err := opendsr.NewSigner(c.CertificateFile, c.KeyFile, c.Domain, s.o.Now())
	if err != nil {
		return err
	}
	s.dsr, err = opendsr.New(opendsr.Options{
		Domain: c.Domain, Signer: signer, View: s.view.Load, AllowPrivate: c.AllowPrivate,
		StatePath: OpenDSRPath(s.config.DataDir), Tries: c.Tries, FirstWait: c.FirstWait, Now: s.o.Now, Logger: s.o.Logger,
		Controller: func(r *http.Request) string { return guard.PersonOf(r).Name },
		Actions: opendsr.Actions{
			Submit: changes{s}.submitDSR, Cancel: changes{s}.cancelDSR, Look: func(ctx context.Context, requestID string) error {
				return refusedDSR(changes{s}.look(ctx, requestID))
			},
		},
	})
	if err != nil {
		return err
	}
	handler := s.dsr.Handler()
	// The certificate is public: receivers of callbacks check signatures with it.
	mux.Handle("GET "+opendsr.CertificatePath, handler)
	mux.HandleFunc(opendsr.Prefix, guard.Needing(guard.Erase, handler.ServeHTTP, opendsr.Refuse))
	return nil
}

// openOpenDSR starts the callbacks.
func (s openers) openOpenDSR(context.Context) (supervisor.Process, error) { return s.dsr, nil }

func (c changes) submitDSR(ctx context.Context, a opendsr.Asked) error {
	_, err := c.submit(ctx, api.ErasureRequest{
		RequestID: a.RequestID, Nodes: a.Transactions, Subjects: a.Subjects, Reason: a.Reason, Deadline: a.Deadline,
	})
	return refusedDSR(err)
}

func (c changes) cancelDSR(ctx context.Context, requestID string) error {
	_, err := c.cancel(ctx, requestID, lethe.Digest{})
	return refusedDSR(err)
}

// refusedDSR converts a problem to an OpenDSR error: a mistake of the caller is a bad request.
func refusedDSR(err error) error {
	var problem *api.Problem
	if !errors.As(err, &problem) {
		return err
	}
	status := problem.Status
	if status < http.StatusInternalServerError && status != http.StatusNotFound {
		status = http.StatusBadRequest
	}
	return &opendsr.RefusedError{Status: status, Detail: problem.Detail}
}

// label publishes the label of a transaction.
func (c changes) label(ctx context.Context, l lethe.LabelRecord) error {
	if err := c.ready(); err != nil {
		return err
	}
	key, value, err := ingest.EncodeLabel(l)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := c.note(ctx, translog.DeedLabel, "", 1); err != nil {
		return err
	}
	err = c.client.Write(ctx, bus.Labels, []ingest.Outgoing{{Key: key, Value: value}})
	return c.refused("a label could not be published", err)
}
