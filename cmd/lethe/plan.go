package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/forecast"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
	"lethe/service"
	"lethe/service/api"
)

type erasePlanCmd struct {
	serviceFlags
	Node    names    `help:"Transaction to plan for. Repeatable." placeholder:"ID"`
	Edge    names    `help:"Payment to plan for. Repeatable." placeholder:"A>B"`
	Feature []string `help:"Plan to set features of this transaction to 0. Repeatable." placeholder:"ID[>0,7]" sep:"none"`
	Subject names    `help:"Key of a subject to plan for. Repeatable." placeholder:"KEY"`
	Until   int64    `help:"Last timestep of --subject; by default the newest." default:"-1" placeholder:"T"`
	Scope   []string `help:"Scope to plan for: ${scopes}; all by default." placeholder:"SCOPE"`
	Export  string   `help:"JSON file to list what is stored of the targets, and where." placeholder:"FILE" type:"path"`
	JSON    bool     `help:"Print one JSON document."`
}

// Help shows an example.
func (erasePlanCmd) Help() string {
	return `Example:
  lethe erase plan --node 230007682
  lethe erase plan --node 230007682 --scope stubs --json
  lethe erase plan --subject customer-17 --export held.json
  lethe erase plan --node 230007682 --export held.json

A running service answers. With --data-dir the command reads the directory of a stopped one. Nothing
is changed. The seconds estimate the time until the served ensemble is one that never saw the
targets. They are based on the latest training and erasures, which the answer names. --export works
only on the machine of the service.`
}

const planTimeout = 3 * time.Minute

// Run queries a running service.
func (c *erasePlanCmd) Run(a *command.App) error {
	if err := c.Subject.checkUntil(c.Until); err != nil {
		return err
	}
	if len(c.Node)+len(c.Edge)+len(c.Feature)+len(c.Subject) == 0 {
		return command.Usagef("name at least one target with --node, --edge, --feature or --subject")
	}
	plan, err := c.ask(a)
	if errors.Is(err, service.ErrPlan) {
		return command.Usage(err)
	}
	if err != nil {
		return err
	}
	held := plan.Export
	plan.Export = nil
	if c.Export != "" {
		text, err := json.MarshalIndent(held, "", "  ")
		if err == nil {
			err = atomicfile.Write(c.Export, append(text, '\n'), 0o600)
		}
		if err != nil {
			return fmt.Errorf("--export: %w", err)
		}
		fmt.Fprintf(a.Stderr, "what is held of %d targets is in %s\n", len(held), c.Export)
	}
	if c.JSON {
		return a.PrintJSON(plan)
	}
	return printPlan(a, plan)
}

// ask requests the plan from the service. The targets are in the body.
func (c *erasePlanCmd) ask(a *command.App) (*service.Plan, error) {
	asked := service.PlanRequest{
		Nodes: c.Node, Edges: c.Edge, Features: c.Feature, Subjects: c.Subject, Scopes: c.Scope,
		Export: c.Export != "",
	}
	if until := lethe.Timestep(c.Until); until >= 0 {
		asked.Until = &until
	}
	if c.DataDir != "" {
		config, err := c.Load(a, nil)
		if err != nil {
			return nil, err
		}
		return service.PlanStopped(a.Context, config, asked)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	status, text, err := c.request(a, planTimeout, http.MethodPost, "/api/v1/erasures/plan", body)
	if err != nil {
		return nil, err
	}
	switch status {
	case http.StatusOK:
	case http.StatusBadRequest:
		return nil, command.Usagef("%s", detailOf(text))
	case http.StatusUnauthorized:
		return nil, fmt.Errorf("%s asks for a token: give its file with --token-file", c.URL)
	default:
		return nil, fmt.Errorf("%s answers %d %s: %s", c.URL, status, http.StatusText(status), detailOf(text))
	}
	var plan service.Plan
	if err := json.Unmarshal(text, &plan); err != nil {
		return nil, fmt.Errorf("%s does not answer like lethe: %w", c.URL, err)
	}
	return &plan, nil
}

// printTargets prints the targets of a request, and the causes that it would wait for.
func printTargets(a *command.App, p *service.Plan) {
	fmt.Fprintf(a.Stdout, "targets  %d, of which lethe has records: %d\n", p.Targets, p.Held)
	if p.Carried > 0 {
		fmt.Fprintf(a.Stdout, "subjects are carried by %d transactions and payments\n", p.Carried)
	}
	for _, id := range p.Several {
		fmt.Fprintf(a.Stdout, "%s carries other subjects too, and goes whole\n", id)
	}
	if p.SeveralSubjects > len(p.Several) {
		fmt.Fprintf(a.Stdout, "%d transactions carry other subjects too, and go whole\n", p.SeveralSubjects)
	}
	for _, id := range p.Unknown.All() {
		fmt.Fprintf(a.Stdout, "%s is not held: it is misspelt, or was erased before\n", id)
	}
	for _, id := range p.OtherSpellings.All() {
		fmt.Fprintf(a.Stdout, "%s is held as another spelling: see ingest.normalise\n", id)
	}
	if p.Joined > 0 {
		fmt.Fprintf(a.Stdout, "%d of those hold a comma or semicolon: several ids may have been given as one\n", p.Joined)
	}
	for _, h := range p.Holds {
		until := "until it is lifted"
		if !h.Until.IsZero() {
			until = "until " + h.Until.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(a.Stdout, "the request would wait for hold %s %s\n", h.Name, until)
	}
	fmt.Fprintln(a.Stdout)
}

// printPlan prints the scopes in columns.
func printPlan(a *command.App, p *service.Plan) error {
	printTargets(a, p)
	rows := [][]string{{"scope"}, {"timesteps"}, {"shards"}, {"slices"}, {"stubs"}, {"payments"}, {"labels"}, {"models"},
		{"checkpoints"}, {"training steps"}, {"seconds until swapped"}, {"processor seconds"},
		{"all anew, processor seconds"},
		{"cheaper way"}}
	for _, s := range p.Scopes {
		cells := make([]string, len(rows))
		if cells[0] = string(s.Scope); s.Rejected != "" {
			cells[1] = "rejected: " + s.Rejected
		} else {
			copy(cells[1:], planCells(s))
		}
		for i := range rows {
			rows[i] = append(rows[i], cmp.Or(cells[i], "-"))
		}
	}
	if err := command.Table(a.Stdout, rows); err != nil {
		return err
	}
	if notes := notesOf(p.Scopes); len(notes) > 0 {
		fmt.Fprintf(a.Stdout, "\n%s\n", strings.Join(notes, "\n"))
	}
	fmt.Fprintf(a.Stdout, "\nestimates are made of %s\n", strings.ReplaceAll(p.Basis, "_", " "))
	printRemains(a, p.Scopes)
	return nil
}

// notesOf has a line for each scope that is rejected, and for each model that learns anew.
func notesOf(scopes []forecast.Scope) (lines []string) {
	for _, s := range scopes {
		if s.Rejected == string(deletions.RejectedScope) {
			lines = append(lines, fmt.Sprintf("%s: not exact while repair.one_hop is on, since rows of other slices hold means "+
				"of the target", s.Scope))
		}
		for _, m := range s.Models {
			if len(m.Refitted) > 0 {
				lines = append(lines, fmt.Sprintf("%s: %s, groups %v of %d", s.Scope, m.Model, m.Refitted, m.Groups))
			}
		}
	}
	return lines
}

// printRemains prints each text of what may remain once, with the scopes that it is of.
func printRemains(a *command.App, scopes []forecast.Scope) {
	var texts []string
	of := make(map[string][]string)
	for _, s := range scopes {
		for _, text := range s.MayRemain {
			if of[text] == nil {
				texts = append(texts, text)
			}
			of[text] = append(of[text], string(s.Scope))
		}
	}
	for _, text := range texts {
		fmt.Fprintf(a.Stdout, "may remain at scope %s: %s\n", strings.Join(of[text], ", "), text)
	}
}

// planCells are the figures of a scope.
func planCells(s forecast.Scope) []string {
	models := 0
	for _, m := range s.Models {
		models += len(m.Refitted)
	}
	return []string{
		strconv.Itoa(len(s.Timesteps)), strconv.Itoa(len(s.Shards)), strconv.Itoa(s.Slices), strconv.Itoa(s.Stubs),
		strconv.Itoa(s.Payments), strconv.Itoa(s.Labels), strconv.Itoa(models), strconv.Itoa(s.Checkpoints),
		strconv.Itoa(s.Steps), fmt.Sprintf("%.2f", s.Seconds), fmt.Sprintf("%.2f", s.Processor),
		fmt.Sprintf("%.2f", s.Everything.Processor), s.Cheaper,
	}
}

// detailOf returns the detail of a problem, or the text of another response.
func detailOf(answer []byte) string {
	var problem api.Problem
	if json.Unmarshal(answer, &problem) == nil && problem.Detail != "" {
		return problem.Detail
	}
	return strings.TrimSpace(string(answer))
}
