package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

// nodeOutcome is the outcome for one target, with the target's name, which only the submitter of
// the request knows.
type nodeOutcome struct {
	Node    string `json:"node,omitempty"`
	Payment string `json:"payment,omitempty"`
	Subject string `json:"subject,omitempty"`
	// FeaturesOf is the transaction whose features were requested; the columns are in the outcome.
	FeaturesOf string `json:"features_of,omitempty"`
	deletions.TargetOutcome
}

// features describes the erased features and their transaction.
func (o nodeOutcome) features() string {
	if len(o.Columns) == 0 {
		return "features of " + o.FeaturesOf
	}
	return fmt.Sprintf("features %s of %s", o.Columns, o.FeaturesOf)
}

// outcomeOf is the outcome for one target.
func outcomeOf(t lethe.Target, o deletions.TargetOutcome) nodeOutcome {
	if t.Kind == lethe.PaymentTarget {
		return nodeOutcome{Payment: string(ingest.PaymentKey(t.Payment.Source, t.Payment.Target)), TargetOutcome: o}
	}
	switch t.Kind {
	case lethe.SubjectTarget:
		return nodeOutcome{Subject: t.Subject, TargetOutcome: o}
	case lethe.FeaturesTarget:
		return nodeOutcome{FeaturesOf: string(t.Transaction), TargetOutcome: o}
	default:
	}
	return nodeOutcome{Node: string(t.Transaction), TargetOutcome: o}
}

// submittedErasure is the status of a request as shown to its submitter.
type submittedErasure struct {
	deletions.Report
	// Nonce is part of the request's digest; without it the digest cannot be recomputed.
	Nonce    string        `json:"nonce"`
	Outcomes []nodeOutcome `json:"outcomes"`
}

// printSubmitted prints the status of a request to its submitter.
func printSubmitted(a *command.App, s deletions.Status, request lethe.ErasureRequest, asJSON bool) error {
	out := submittedErasure{Report: s.Report(), Nonce: request.Nonce, Outcomes: []nodeOutcome{}}
	if len(s.Outcomes) == len(request.Targets) {
		for i, o := range s.Outcomes {
			out.Outcomes = append(out.Outcomes, outcomeOf(request.Targets[i], o))
		}
	}
	if asJSON {
		return a.PrintJSON(out)
	}
	printRequest(a, s)
	for _, o := range out.Outcomes {
		if o.Decided() {
			fmt.Fprintf(a.Stdout, "  %s: %s\n", cmp.Or(o.Node, o.Payment, o.Subject, o.features()), o.Outcome)
		}
	}
	return nil
}

// printFound prints the status of a request that was queried by its id, or reports that it does not
// exist.
func printFound(a *command.App, s deletions.Status, err error, asJSON bool) error {
	if errors.Is(err, requests.ErrUnknown) {
		return fmt.Errorf("%w (it was never submitted, or lethe has not read it yet)", err)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(s.Report())
	}
	printRequest(a, s)
	return nil
}

// printNamed prints all requests with a name. If there are several, the command fails unless all are verified: the
// name may refer to any of them.
func printNamed(a *command.App, list []deletions.Status, asJSON bool) error {
	if len(list) == 1 {
		return printFound(a, list[0], nil, asJSON)
	}
	open := 0
	for _, s := range list {
		if s.State != deletions.Verified {
			open++
		}
		if !asJSON {
			printRequest(a, s)
		}
	}
	if asJSON {
		if err := a.PrintJSON(deletions.Reports(list)); err != nil {
			return err
		}
	}
	if open > 0 {
		return fmt.Errorf("%d requests have the name %s, and %d of them are not verified: give the digest of the one that "+
			"you mean", len(list), list[0].RequestID, open)
	}
	return nil
}

func printRequest(a *command.App, s deletions.Status) {
	fmt.Fprintf(a.Stdout, "request %s: %s (scope %s)\n", s.RequestID, s.Headline(), s.Scope)
	fmt.Fprintf(a.Stdout, "  digest %s\n", s.RequestDigest)
	if s.AwaitsSignature() {
		fmt.Fprintf(a.Stdout, "  sign it with: lethe erase approve %s --sign KEY\n", s.RequestID)
	}
	if n := s.Counts.SeveralSubjects; n > 0 {
		fmt.Fprintf(a.Stdout, "  %d transactions of other subjects too go whole\n", n)
	}
	fmt.Fprintf(a.Stdout, "  targets %d, timesteps %d, slices replaced %d, shards retrained %d\n",
		s.Counts.Targets, s.Counts.Timesteps, s.Counts.Slices, s.Counts.Shards)
	if refitted := refittedText(s.Refitted); refitted != "" {
		fmt.Fprintf(a.Stdout, "  groups refitted: %s\n", refitted)
	}
	if counted := countOutcomes(s.Outcomes); counted != "" {
		name := "outcomes"
		if !s.State.Final() && s.State != deletions.Erased && s.State != deletions.Held {
			name = "expected outcomes"
		}
		fmt.Fprintf(a.Stdout, "  %s: %s\n", name, counted)
	}
	if s.BatchSize > 1 {
		fmt.Fprintf(a.Stdout, "  carried out together with %d others\n", s.BatchSize-1)
	}
	for _, h := range s.HeldRequests {
		by := "is held by " + strings.Join(h.Holds, ", ")
		if len(h.Holds) == 0 && h.Unsigned {
			by = "waits for another signature"
		}
		fmt.Fprintf(a.Stdout, "  still named by request %s, which %s\n", h.RequestID, by)
	}
	if took := elapsedText(s.Elapsed); took != "" {
		fmt.Fprintf(a.Stdout, "  after it was received: %s\n", took)
	}
	if len(s.SignedBy) > 0 {
		fmt.Fprintf(a.Stdout, "  signed by %s\n", strings.Join(s.SignedBy, ", "))
	}
	if !s.Deadline.IsZero() {
		overdue := ""
		if s.Overdue {
			overdue = ", overdue"
		}
		fmt.Fprintf(a.Stdout, "  deadline %s%s\n", s.Deadline.Format(time.DateTime), overdue)
	}
	fmt.Fprintf(a.Stdout, "  received %s, updated %s", s.ReceivedAt.Format(time.DateTime),
		s.UpdatedAt.Format(time.DateTime))
	if s.Failure != "" {
		fmt.Fprintf(a.Stdout, ", because: %s", failureText(s.Failure))
	}
	fmt.Fprintln(a.Stdout)
}

// failureText is the code of a failure with the remedy, if the requester has one.
func failureText(code deletions.FailureCode) string {
	remedy := map[deletions.FailureCode]string{
		deletions.RejectedScope:    "submit another request with a wider scope",
		deletions.RejectedConflict: "submit it under another id",
		deletions.RejectedName:     "submit it under an id without that of a target",
		deletions.RejectedRestored: "submit another request",
	}[code]
	if remedy == "" {
		return string(code)
	}
	return fmt.Sprintf("%s (%s)", code, remedy)
}

// refittedText describes how many groups of every component were retrained.
func refittedText(components []deletions.RefittedGroups) string {
	parts := make([]string, len(components))
	for i, c := range components {
		parts[i] = fmt.Sprintf("%s %d of %d", c.Model, len(c.Refitted), c.Groups)
	}
	return strings.Join(parts, ", ")
}

// elapsedText describes how long a request took to reach each state, as far as that is known.
func elapsedText(e deletions.Elapsed) string {
	var parts []string
	for _, known := range e.Known() {
		seconds := float64(known.Milliseconds) / float64(time.Second/time.Millisecond)
		parts = append(parts, fmt.Sprintf("%s %.3f s", known.State, seconds))
	}
	return strings.Join(parts, ", ")
}

// countOutcomes describes how many targets had which outcome; empty if none is known.
func countOutcomes(outcomes []deletions.TargetOutcome) string {
	var parts []string
	for _, kind := range []deletions.Outcome{
		deletions.OutcomeErased, deletions.OutcomeAlreadyErased, deletions.OutcomeNothingHeld, deletions.OutcomeHeld,
	} {
		n := 0
		for _, o := range outcomes {
			if o.Outcome == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", kind, n))
		}
	}
	return strings.Join(parts, ", ")
}

func (c *eraseSubmitCmd) wait(
	a *command.App, client *bus.Client, submitted requests.Submitted, request lethe.ErasureRequest,
) error {
	id, p := submitted.RequestID, command.NewProgress(a.Stderr)
	ctx, cancel := context.WithTimeout(a.Context, c.Timeout)
	defer cancel()
	patient, err := patiently(client, p)
	if err != nil {
		return err
	}
	defer patient.Close()
	topics, err := c.believed(a, c.Config, patient)
	if err != nil {
		return err
	}
	s, err := requests.Wait(ctx, topics, submitted, func(s deletions.Status) {
		if !s.State.Final() && s.State != deletions.Held { // Done below reports these states
			p.Reached("request %s: %s", id, s.State)
		}
	})
	c.unsigned(a, topics)
	if errors.Is(err, context.DeadlineExceeded) && a.Context.Err() == nil {
		return fmt.Errorf("request %s did not end within --timeout %s (%s); it continues, see lethe erase status %s", id,
			c.Timeout, cmp.Or(string(s.State), "not read yet"), id)
	}
	if err != nil {
		return err
	}
	p.Done("request %s: %s", id, s.State)
	c.caveat(a, topics)
	if err := printSubmitted(a, s, request, c.JSON); err != nil {
		return err
	}
	if s.State == deletions.Held {
		return fmt.Errorf("request %s: %s", id, unfinished(s))
	}
	if s.State != deletions.Verified {
		return fmt.Errorf("request %s was %s: %s", id, s.State, s.Failure)
	}
	if s.Result() == deletions.ResultNothingHeld {
		check := "check the ids"
		if slices.ContainsFunc(request.Targets, func(t lethe.Target) bool { return len(t.Columns) > 0 }) {
			check = "check the ids and columns"
		}
		return command.WithStatus(fmt.Errorf("request %s: nothing was held of any target: %s", id, check),
			command.ExitNothingHeld)
	}
	return nil
}
