package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/forecast"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/internal/normalise"
	"lethe/partition"
	"lethe/pipeline/graphs"
	"lethe/scoring/ensemble"
	"lethe/service/api"
	"lethe/service/guard"
)

// PlanRequest asks for the effects of an erasure, as the body of POST /api/v1/erasures/plan: ids
// are in no URL, because URLs are logged.
type PlanRequest struct {
	Nodes []string `json:"nodes,omitempty"`
	// Subjects are planned up to the timestep Until, or by default the newest.
	Subjects []string        `json:"subjects,omitempty"`
	Until    *lethe.Timestep `json:"until,omitempty"`
	// Edges are payments as "A>B", Features those of transactions as "ID", all of them, or
	// "ID>0,7".
	Edges    []string `json:"edges,omitempty"`
	Features []string `json:"features,omitempty"`
	// Scopes are the scopes to plan, all by default.
	Scopes []string `json:"scopes,omitempty"`
	// Export includes the stored data of the targets. It is allowed only from this machine.
	Export bool `json:"export,omitempty"`
}

// Plan is the response. Export is set if it was requested.
type Plan struct {
	forecast.Forecast
	// Carried counts the transactions and payments that are erased with subjects, SeveralSubjects
	// those of the transactions that carry other subjects too: they are erased as a whole. Several
	// are their ids, which only people with a token and callers on this machine see.
	Carried         int                   `json:"carried,omitempty"`
	SeveralSubjects int                   `json:"several_subjects,omitempty"`
	Several         []lethe.TransactionID `json:"several_subjects_ids,omitempty"`
	// Unknown are the targets without stored data: usually an id is misspelled.
	Unknown *UnknownTargets `json:"unknown,omitempty"`
	// OtherSpellings are those of them that are stored in another spelling: in another case, with other digits or
	// spaces, or in another Unicode form.
	OtherSpellings *UnknownTargets `json:"other_spellings,omitempty"`
	// Joined counts those of them that contain a comma or a semicolon: several ids may have been sent
	// as one.
	Joined int `json:"unknown_joined,omitempty"`
	// Holds are the active ones that would block the request.
	Holds  []deletions.WaitsForHold `json:"holds,omitempty"`
	Export []HeldTarget             `json:"export,omitempty"`
}

// ErrPlan marks an invalid PlanRequest, or an invalid erasure request. Its text repeats no id.
var ErrPlan = errors.New("the request is refused")

// The bounds of a plan.
const (
	planTimeout  = 2 * time.Minute
	maxPlanBytes = 4 << 20
)

// targets counts the targets of the request.
func (r PlanRequest) targets() int {
	return len(r.Nodes) + len(r.Edges) + len(r.Features) + len(r.Subjects)
}

// question validates a request.
func (r PlanRequest) question(limits ingest.Limits) (q graphs.Question, err error) {
	r = r.normal(limits.Normalise)
	if n := r.targets(); n == 0 || n > limits.MaxErasureNodes {
		return q, fmt.Errorf("%w: %d targets, want 1..%d", ErrPlan, n, limits.MaxErasureNodes)
	}
	until := lethe.NoTimestep
	if r.Until != nil {
		if until = *r.Until; until < 0 || until > lethe.MaxTimestep || len(r.Subjects) == 0 {
			return q, fmt.Errorf("%w: until is %d, want a timestep of 0 to 2^53, and subjects", ErrPlan, until)
		}
	}
	for i, id := range r.Nodes {
		if !lethe.ValidID(id) {
			return q, fmt.Errorf("%w: node %d is no id: want %s", ErrPlan, i, lethe.IDForm)
		}
		q.Targets = append(q.Targets, lethe.Transactions(lethe.TransactionID(id))...)
	}
	others, err := r.paymentsAndFeatures()
	if err != nil {
		return q, err
	}
	q.Targets = append(q.Targets, others...)
	for i, subject := range r.Subjects {
		if !lethe.ValidSubject(subject) {
			return q, fmt.Errorf("%w: subject %d is no key: want %s", ErrPlan, i, lethe.SubjectForm)
		}
		q.Targets = append(q.Targets, lethe.SubjectThrough(subject, until))
	}
	if len(r.Scopes) == 0 {
		r.Scopes = lethe.SupportedScopes()
	}
	for i, scope := range r.Scopes {
		if !slices.Contains(lethe.SupportedScopes(), scope) {
			return q, fmt.Errorf("%w: scope %d is not one of %s", ErrPlan, i, strings.Join(lethe.SupportedScopes(), ", "))
		}
		if !slices.Contains(q.Scopes, lethe.Scope(scope)) {
			q.Scopes = append(q.Scopes, lethe.Scope(scope))
		}
	}
	q.Held = r.Export
	return q, nil
}

// normal returns the request with names in normal form.
func (r PlanRequest) normal(rule normalise.Rule) PlanRequest {
	r.Nodes, r.Subjects = rule.Names(r.Nodes), rule.Names(r.Subjects)
	keys := func(texts []string) (out []string) {
		for _, text := range texts {
			out = append(out, string(rule.Key([]byte(text))))
		}
		return out
	}
	r.Edges, r.Features = keys(r.Edges), keys(r.Features)
	return r
}

// paymentsAndFeatures are the targets that are neither transactions nor subjects.
func (r PlanRequest) paymentsAndFeatures() (out []lethe.Target, err error) {
	for _, list := range []struct {
		what  string
		texts []string
		read  func(string) (lethe.Target, error)
	}{{"edge", r.Edges, ingest.PaymentIn}, {"feature", r.Features, ingest.FeaturesIn}} {
		for i, text := range list.texts {
			target, err := list.read(text)
			if err != nil {
				return nil, fmt.Errorf("%w: %s %d is %w", ErrPlan, list.what, i, err)
			}
			out = append(out, target)
		}
	}
	return out, nil
}

// plans computes plans from the data of the role that holds the graphs.
type plans struct {
	*Service
	// questions is the connection to that role; nil if another process runs it.
	questions *graphs.Questions
	// pace is the measured speed of training.
	pace *forecast.Pace
}

// of plans an erasure, without changing anything. Errors: ErrPlan, graphs.ErrBusy, those of the
// stores and, for an export, of the brokers.
func (p *plans) of(ctx context.Context, r PlanRequest) (*Plan, error) {
	q, err := r.question(p.config.Ingest.Records)
	if err != nil {
		return nil, err
	}
	layout, _, err := models(p.config)
	if err != nil {
		return nil, err
	}
	answer, err := p.questions.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	out := planOf(answer, forecast.Of(answer.Facts(q), settingsOf(p.config, layout, p.pace.Rates())))
	if r.Export {
		out.Export, err = p.export(ctx, answer.Held)
	}
	return out, err
}

// PlanStopped is the plan of a data directory whose service has stopped. It has no current
// measurements, so durations are based on previous erasures or on defaults. An export needs the
// topics, and is rejected. Errors: ErrPlan and those of the stores.
func PlanStopped(ctx context.Context, c configs.Config, r PlanRequest) (*Plan, error) {
	q, err := r.question(c.Ingest.Records)
	if err == nil && r.Export {
		err = fmt.Errorf("%w: an export reads topics as well, ask a running service", ErrPlan)
	}
	if err != nil {
		return nil, err
	}
	secret, err := configs.KeysOf(c).Secret(ctx)
	if err != nil {
		return nil, err
	}
	layout, _, err := models(c)
	if err != nil {
		return nil, err
	}
	answer, err := graphs.AskStopped(ctx, graphs.Options{
		FS: RemediedFS(vfs.Default, c.DataDir, configs.RoleGraphs), Dir: RoleDir(c.DataDir, configs.RoleBuild),
		Snapshot: c.Ingest.Config, Limits: c.Ingest.Records, Partition: c.PartitionConfig(), Repair: c.RepairConfig(),
		Secret: secret, Clock: coordinator.WallClock{}, Logger: slog.New(slog.DiscardHandler),
	}, c.Kafka.Partitions, q)
	if err != nil {
		return nil, err
	}
	return planOf(answer, forecast.Of(answer.Facts(q), settingsOf(c, layout, forecast.Rates{}))), nil
}

func planOf(a graphs.Answer, f forecast.Forecast) *Plan {
	return &Plan{
		Forecast: f, Carried: a.Carried, SeveralSubjects: len(a.Several), Several: a.Several,
		Unknown: unknownOf(a.Unknown), OtherSpellings: unknownOf(a.Alike), Joined: joined(unknownOf(a.Unknown).All()),
		Holds: a.Holds,
	}
}

// settingsOf returns the inputs of a forecast.
func settingsOf(c configs.Config, layout ensemble.Layout, rates forecast.Rates) forecast.Settings {
	return forecast.Settings{
		Layout: layout, Workers: c.Workers(), Rates: rates,
		IndependentShards: c.Partition.Method == partition.MethodIndependent,
	}
}

// serve handles POST /api/v1/erasures/plan. It accepts only JSON, which a page of another site
// cannot send without a CORS preflight.
func (p *plans) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	plan, err := p.asked(r)
	var problem *api.Problem
	switch {
	case errors.As(err, &problem):
		api.Refuse(w, problem.Status, problem.Detail)
	case err != nil:
		p.o.Logger.Error("plan of an erasure", "error", err)
		api.Refuse(w, http.StatusInternalServerError, "the plan could not be made; the log says why")
	default:
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(plan) //nolint:errcheck // the caller went away
	}
}

// asked returns the plan that a request asks for. Its error is an api.Problem if the caller has to act on it.
func (p *plans) asked(r *http.Request) (*Plan, error) {
	var asked PlanRequest
	if err := api.ReadBody(r, maxPlanBytes, &asked); err != nil {
		return nil, err
	}
	if asked.Export && !fromHere(r) {
		return nil, api.NewProblem(http.StatusForbidden, "what is stored of a target is shown on this machine only")
	}
	if !p.open.Load() || p.questions == nil {
		return nil, api.NewProblem(http.StatusServiceUnavailable,
			"this process does not hold the graphs, or is starting; see /readyz")
	}
	ctx, cancel := context.WithTimeout(r.Context(), planTimeout)
	defer cancel()
	plan, err := p.of(ctx, asked)
	if err == nil { // the targets are shown after the access was logged
		err = changes{p.Service}.note(ctx, translog.DeedPlan, "", asked.targets())
	}
	var problem *api.Problem
	switch {
	case errors.As(err, &problem):
		return nil, err
	case errors.Is(err, ErrPlan):
		return nil, api.NewProblem(http.StatusBadRequest, err.Error())
	case errors.Is(err, graphs.ErrBusy):
		return nil, api.NewProblem(http.StatusServiceUnavailable, err.Error())
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, api.NewProblem(http.StatusGatewayTimeout, fmt.Sprintf("the plan took longer than %s: ask for fewer "+
			"targets or scopes, or give --data-dir while lethe is stopped", planTimeout))
	case err != nil:
		return nil, err
	}
	if !fromHere(r) && guard.PersonOf(r).Name == "" {
		plan.Several = nil
	}
	return plan, nil
}
