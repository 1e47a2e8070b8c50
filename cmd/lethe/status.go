package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
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
	tokenFlag
	command.ConfigFlags
	URL  string `help:"URL of the web interface; by default at http.address." placeholder:"URL"`
	JSON bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (statusCmd) Help() string {
	return "Example:\n  lethe status --url http://127.0.0.1:8080\n\nWithout --url it asks at http.address of the " +
		"configuration (LETHE_HTTP_ADDRESS)."
}

const statusTimeout = 10 * time.Second

// Run queries a running service.
func (c *statusCmd) Run(a *command.App) error {
	var err error
	if c.URL, err = serviceURL(a, c.ConfigFlags, c.URL); err != nil {
		return err
	}
	client := http.Client{Timeout: statusTimeout}
	request, err := http.NewRequestWithContext(a.Context, http.MethodGet, c.URL+"/api/v1/status", http.NoBody)
	if err == nil {
		err = c.authorise(request)
	}
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err // the message already has the address
		}
		return fmt.Errorf("no service answers at %s: %w (start one with lethe run, or give its --url)", c.URL, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.URL, err)
	}
	if response.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("%s asks for a token: give its file with --token-file", c.URL)
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		return fmt.Errorf("%s is not ready: see %s/readyz for what it waits for", c.URL, c.URL)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: is it lethe? (give the address of its web interface with --url)", c.URL,
			response.Status)
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

// serviceURL returns the address of the web interface: that of --url, or http.address of the configuration.
func serviceURL(a *command.App, flags command.ConfigFlags, given string) (string, error) {
	if given == "" {
		config, err := flags.Load(a, nil)
		if err != nil {
			return "", err
		}
		scheme := "http://"
		if config.HTTP.TLS.Enabled() {
			scheme = "https://"
		}
		host, port, err := net.SplitHostPort(config.HTTP.Address)
		if err != nil {
			return "", command.Usagef("http.address is %q, want host:port", config.HTTP.Address)
		}
		if address, err := netip.ParseAddr(host); host == "" || err == nil && address.IsUnspecified() {
			host = "127.0.0.1" // it listens at every address
		}
		return scheme + net.JoinHostPort(host, port), nil
	}
	if u, err := url.Parse(given); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", command.Usagef("--url is %q, want http://host:port", given)
	}
	return given, nil
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
	fmt.Fprintf(a.Stdout, "ensemble      %s, trained through timestep %d\n", orNone(s.EnsembleHash), s.TrainedThrough)
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
