package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lethe/deletions"
	"lethe/internal/command"
	"lethe/scoring/quality"
	"lethe/service"
)

type statusCmd struct {
	serviceFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (statusCmd) Help() string {
	return "Example:\n  lethe status --url http://127.0.0.1:8080\n\nWithout --url it asks at http.address of the " +
		"configuration (LETHE_HTTP_ADDRESS)."
}

const statusTimeout = 10 * time.Second

// Run queries a running service.
func (c *statusCmd) Run(a *command.App) error {
	status, body, err := c.request(a, statusTimeout, http.MethodGet, "/api/v1/status", nil)
	if err != nil {
		return err
	}
	if status == http.StatusUnauthorized {
		return fmt.Errorf("%s asks for a token: give its file with --token-file", c.URL)
	}
	if status == http.StatusServiceUnavailable {
		return fmt.Errorf("%s is not ready: see %s/readyz for what it waits for", c.URL, c.URL)
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s answers %d %s: is it lethe? (give the address of its web interface with --url)", c.URL,
			status, http.StatusText(status))
	}
	var s service.Status
	if err := json.Unmarshal(body, &s); err != nil {
		return fmt.Errorf("%s does not answer like lethe: %w", c.URL, err)
	}
	if c.JSON {
		return a.PrintJSON(s)
	}
	return printStatus(a, &s)
}

func printStatus(a *command.App, s *service.Status) error {
	fmt.Fprintf(a.Stdout, "timesteps     %d open, %d closed, %d settled\n", s.Timesteps.Open, s.Timesteps.Closed,
		s.Timesteps.Settled)
	behind := strconv.FormatInt(s.LagRecords, 10)
	if s.LagRecords < 0 {
		behind = "not known, the brokers do not answer"
	}
	fmt.Fprintf(a.Stdout, "transactions  %d, predictions %d, records behind %s\n", s.Transactions, s.Predictions, behind)
	if s.ReasonsPending > 0 {
		fmt.Fprintf(a.Stdout, "reasons       of %d alerts to come\n", s.ReasonsPending)
	}
	if s.RejectedRecords > 0 {
		fmt.Fprintf(a.Stdout, "rejected      %d records since the process began (lethe dlq list)\n", s.RejectedRecords)
	}
	ensemble := orNone(s.EnsembleHash)
	if s.TrainedThrough >= 0 {
		ensemble += fmt.Sprintf(", trained through timestep %d", s.TrainedThrough)
	}
	fmt.Fprintf(a.Stdout, "ensemble      %s\n", ensemble)
	if len(s.DiskBytes) > 0 {
		fmt.Fprintf(a.Stdout, "disk          %s\n", diskText(s.DiskBytes))
	}
	for _, state := range deletions.States() {
		if n := s.Erasures[state]; n > 0 {
			fmt.Fprintf(a.Stdout, "erasures      %d %s\n", n, state)
		}
	}
	for _, w := range s.Waiting {
		fmt.Fprintf(a.Stdout, "waiting       %s (since %s; the %s's move)\n              → %s\n", w.Message,
			w.Since.UTC().Format(time.RFC3339), w.Move, w.Do)
	}
	if len(s.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(a.Stdout)
	return command.Table(a.Stdout, stepRows(s.Steps))
}

// diskText describes the size of the data directory, and of its parts of a megabyte or more, the largest
// first.
func diskText(sizes map[string]int64) string {
	const megabyte = 1_000_000
	total, names := int64(0), slices.Sorted(maps.Keys(sizes))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	var parts []string
	for _, name := range names {
		if total += sizes[name]; sizes[name] >= megabyte {
			parts = append(parts, fmt.Sprintf("%s %d", name, sizes[name]/megabyte))
		}
	}
	text := fmt.Sprintf("%d MB", total/megabyte)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

func orNone(text string) string {
	if text == "" {
		return "none yet"
	}
	return text
}

// stepRows formats the timesteps as a table.
func stepRows(steps []service.StepStatus) [][]string {
	rows := [][]string{{"timestep", "state", "transactions", "payments", "labels", "predictions", "AUC", "macro-F1",
		"illicit-F1"}}
	for _, step := range steps {
		row := []string{
			strconv.FormatInt(int64(step.Timestep), 10), step.State, strconv.Itoa(step.Nodes),
			strconv.Itoa(step.Payments), strconv.Itoa(step.Labels), strconv.Itoa(step.Predictions),
		}
		rows = append(rows, append(row, qualityCells(step.Quality)...))
	}
	return rows
}

func qualityCells(q *quality.Summary) []string {
	if q == nil || q.Labelled == 0 {
		return []string{"-", "-", "-"}
	}
	return []string{command.OrDash(q.AUC), fmt.Sprintf("%.3f", q.MacroF1), fmt.Sprintf("%.3f", q.IllicitF1)}
}
