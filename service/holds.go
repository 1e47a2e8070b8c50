package service

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/pipeline/requests"
	"lethe/service/api"
)

// shown converts a hold to the form of the API.
func (c changes) shown(h deletions.Hold) api.Hold {
	return api.Hold{
		Name: h.Name, State: h.State(c.o.Now()), Transactions: len(h.Targets) - len(h.Subjects),
		Subjects: len(h.Subjects), TooLate: h.TooLate, SetAt: h.SetAt, Until: h.Until, LiftedAt: h.LiftedAt,
	}
}

// holds lists every hold, in the order in which they were set.
func (c changes) holds(ctx context.Context) ([]api.Hold, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	list, err := requests.Holds(ctx, c.client)
	if err != nil {
		return nil, c.refused("holds could not be read", err)
	}
	out := []api.Hold{}
	for _, h := range list {
		out = append(out, c.shown(h))
	}
	return out, nil
}

// setHold sets a hold and waits until it is active.
func (c changes) setHold(ctx context.Context, asked api.HoldRequest) (out api.Hold, err error) {
	if err := c.mayHold(); err != nil {
		return out, err
	}
	hold, err := c.holdOf(asked)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := c.note(ctx, translog.DeedHold, hold.Name, len(hold.Targets())); err != nil {
		return out, err
	}
	h, err := requests.SetHold(ctx, c.client, hold)
	if errors.Is(err, requests.ErrHoldTaken) {
		return out, api.NewProblem(http.StatusConflict, "a hold in force has this name: give yours another one")
	}
	if err != nil {
		return out, c.refused("a hold could not be set", err)
	}
	return c.shown(h), nil
}

// liftHold ends a hold and waits until it has ended.
func (c changes) liftHold(ctx context.Context, name string) (out api.Hold, err error) {
	if err := c.mayHold(); err != nil {
		return out, err
	}
	if !deletions.ValidRequestID(name) {
		return out, errNoHold()
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := c.note(ctx, translog.DeedLift, name, 0); err != nil {
		return out, err
	}
	h, err := requests.LiftHold(ctx, c.client, name, c.o.Now())
	if errors.Is(err, requests.ErrUnknownHold) {
		return out, errNoHold()
	}
	if err != nil {
		return out, c.refused("a hold could not be lifted", err)
	}
	return c.shown(h), nil
}

func errNoHold() error {
	return api.NewProblem(http.StatusNotFound, "no hold in force has this name")
}

// mayHold returns why holds cannot be changed here.
func (c changes) mayHold() error {
	if err := c.ready(); err != nil {
		return err
	}
	if c.config.Signatures.Requests > 0 {
		return api.NewProblem(http.StatusConflict,
			"holds must be signed by people: lethe hold set --sign FILE, lethe hold lift NAME --sign FILE")
	}
	return nil
}

// holdOf validates a submitted hold.
func (c changes) holdOf(asked api.HoldRequest) (h ingest.Hold, err error) {
	q, err := PlanRequest{Nodes: asked.Nodes, Subjects: asked.Subjects}.question(c.config.Ingest.Records)
	if err != nil {
		return h, api.NewProblem(http.StatusBadRequest, err.Error())
	}
	now := c.o.Now()
	h = ingest.Hold{
		Name: asked.Name, Reason: asked.Reason, Subjects: asked.Subjects, Until: asked.Until, RequestedAt: now,
	}
	for _, id := range asked.Nodes {
		h.Transactions = append(h.Transactions, lethe.TransactionID(id))
	}
	if h.Name == "" {
		if h.Name, err = requests.NewHoldName(rand.Reader); err != nil {
			return h, err
		}
	}
	var refusal *ingest.Refusal
	_, _, err = ingest.EncodeHold(h)
	switch {
	case asked.Reason == "":
		return h, api.NewProblem(http.StatusBadRequest, "reason is absent: say why, in at most 1024 bytes")
	case !h.Until.IsZero() && !h.Until.After(now):
		return h, api.NewProblem(http.StatusBadRequest, "until has passed")
	case deletions.NamesTarget(lethe.ErasureRequest{RequestID: h.Name, Targets: q.Targets}):
		return h, api.NewProblem(http.StatusBadRequest, "hold_id holds an id that is to be held, and names are kept")
	case errors.As(err, &refusal):
		return h, api.NewProblem(http.StatusBadRequest, refusal.Detail)
	}
	return h, err
}
