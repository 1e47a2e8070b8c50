package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/jws"
	"lethe/pipeline/requests"
	"lethe/service/api"
	"lethe/service/servicetest"
)

const truthDomain = "dsr.example"

// shownRow is a row of the table, as a request that stands so.
type shownRow struct {
	Row     string `json:"row"`
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	Summary string `json:"summary"`
	truth   truth
}

// TestTruth_EverySurface publishes a status for every row of docs/truth.md and has all surfaces show it: command line,
// API, console and OpenDSR of one deployment. The ledger moves none of them, so that states which pass in a moment
// stand still.
func TestTruth_EverySurface(t *testing.T) {
	b := newLogbook(t)
	keys := b.signers("anna", "bert")
	certificate, key, _ := servicetest.Certificate(t, truthDomain, servicetest.NewKey(t))
	b.configure = func(c *configs.Config) {
		c.Roles = []string{configs.RoleView}
		c.Signatures = authority.Config{KeysFile: keys, Requests: 2}
		c.OpenDSR.Domain, c.OpenDSR.CertificateFile, c.OpenDSR.KeyFile = truthDomain, certificate, key
	}
	require.Empty(t, b.serve())
	defer func() { b.stop(0) }()
	rows := b.publishRows(keys)
	for _, row := range rows {
		b.shows(row)
	}
	b.inBrowser(rows)
}

// statusOf is a status as a row of the table describes it.
func statusOf(t *testing.T, row string, entry deletions.Entry, first deletions.Entry, signer string) deletions.Status {
	s := entry.Status()
	outcomes := func(list ...deletions.Outcome) {
		s.State = deletions.Verified
		for i, outcome := range list {
			s.Outcomes[i].Outcome = outcome
		}
	}
	switch row {
	case "received", "accepted", "suppressed", "rewriting", "retraining", "swapped", "erased":
		s.State = deletions.State(row)
	case "waits for a signature":
		s.State, s.SignedBy = deletions.Held, []string{signer}
		s.WaitsFor = &deletions.WaitsFor{Signatures: &deletions.WaitsForSignatures{Given: 1, Needed: 2}}
	case "held":
		s.State, s.WaitsFor = deletions.Held, &deletions.WaitsFor{Holds: []deletions.WaitsForHold{{Name: "case-7"}}}
	case "failed":
		s.State, s.Failure, s.FailedIn = deletions.Failed, deletions.FailedBroker, deletions.Rewriting
	case "verified":
		outcomes(deletions.OutcomeErased, deletions.OutcomeErased)
	case "erased before":
		outcomes(deletions.OutcomeAlreadyErased, deletions.OutcomeAlreadyErased)
	case "partly held":
		outcomes(deletions.OutcomeErased, deletions.OutcomeNothingHeld)
	case "nothing held":
		outcomes(deletions.OutcomeNothingHeld, deletions.OutcomeNothingHeld)
	case "name taken":
		entry.RequestID = first.RequestID
		s = entry.Refuse(deletions.RejectedConflict, entry.Received())
	case "taken back":
		s.State = deletions.Cancelled
	default:
		t.Fatalf("row %s of docs/truth.md is shown by no status", row)
	}
	return s
}

// publishRows publishes a request for every row but that of no request, and returns them.
func (b *logbook) publishRows(keys string) (out []shownRow) {
	file, err := os.ReadFile(keys)
	require.NoError(b, err)
	public, err := jws.Decode(strings.Fields(string(file))[2])
	require.NoError(b, err)
	signer := jws.Thumbprint(public)

	table := truths(b.T)
	first := b.entry("verified", 0)
	for i, row := range slices.Sorted(maps.Keys(table)) {
		if row == "unknown" {
			continue
		}
		entry := b.entry(row, i+1)
		if row == "verified" {
			entry = first
		}
		s := statusOf(b.T, row, entry, first, signer)
		value, err := s.Encode()
		require.NoError(b, err, row)
		require.NoError(b, b.client.Write(b.Context(), bus.ErasureStatus,
			[]ingest.Outgoing{{Key: []byte(s.Key()), Value: value}}))
		out = append(out, shownRow{row, s.RequestID, s.RequestDigest.String(), table[row].summary, table[row]})
	}
	return out
}

// entry is a request for two transactions, under a name that OpenDSR may have given it.
func (b *logbook) entry(row string, number int) deletions.Entry {
	e, err := deletions.NewEntry(lethe.Secret{7}, lethe.ErasureRequest{
		RequestID: fmt.Sprintf("00000000-0000-4000-8000-%012d", number), Scope: lethe.ScopeStubs,
		Targets: lethe.Transactions(lethe.TransactionID(row+" 1"), lethe.TransactionID(row+" 2")),
	}, time.Unix(1_700_000_000, 0))
	require.NoError(b, err)
	return e
}

// shows compares the surfaces, one by one, with a row of the table.
func (b *logbook) shows(row shownRow) {
	b.Helper()
	want := row.truth
	expected := truth{want.state, want.summary, want.result, "", ""}
	said := func(r deletions.Report) truth {
		return truth{string(r.State), r.Summary, string(r.Result), "", ""}
	}
	var shown api.Erasure
	require.Eventually(b, func() bool { return b.read("/api/v1/erasures/"+row.Digest, &shown) == http.StatusOK },
		time.Minute, 20*time.Millisecond, row.Row)
	require.Equal(b, expected, said(shown.Report), row.Row)
	signers := api.Signers{}
	if row.Row == "waits for a signature" {
		signers = api.Signers{Signed: []string{"anna"}, MaySign: []string{"bert"}}
	}
	require.Equal(b, signers, shown.Signers, row.Row)
	require.Equal(b, http.StatusNotFound, b.read("/api/v1/erasures/"+row.Digest+"/receipt", nil), "none is signed here")
	var page api.Page[deletions.Report]
	require.Equal(b, http.StatusOK, b.read("/api/v1/erasures?limit=500", &page))
	require.True(b, slices.ContainsFunc(page.Items, func(r deletions.Report) bool {
		return r.RequestDigest.String() == row.Digest && said(r) == expected
	}), row.Row)

	_, text, _ := execute(b.T, "erase", "status", row.Digest, "--brokers", b.brokers, "--json")
	var report deletions.Report
	require.NoError(b, json.Unmarshal([]byte(text), &report), text)
	require.Equal(b, expected, said(report), row.Row)
	_, text, _ = execute(b.T, "erase", "status", row.Digest, "--brokers", b.brokers)
	headline, failure, _ := strings.Cut(want.summary, ": ")
	if report.Failure == "" {
		headline, failure = want.summary, ""
	}
	require.Contains(b, text, "request "+row.Name+": "+headline+" (scope stubs)\n", row.Row)
	require.Contains(b, text, failure)
	_, text, _ = execute(b.T, "erase", "list", "--brokers", b.brokers)
	require.Regexp(b, row.Name+` +`+want.summary+` +stubs .*`+row.Digest[:listedDigits], text)
	b.waited(row)
	if row.Row == "name taken" {
		return // OpenDSR knows one request of a name: the first
	}
	var dsr struct {
		Status     string                                      `json:"request_status"`
		Extensions map[string]struct{ Result, Summary string } `json:"extensions"`
	}
	require.Equal(b, http.StatusOK, b.read("/opendsr/v1/opendsr_requests/"+row.Name, &dsr), row.Row)
	require.Equal(b, dsrWords(b.T)[row.Row], dsr.Status, row.Row)
	require.Equal(b, []string{want.result, want.summary},
		[]string{dsr.Extensions[truthDomain].Result, dsr.Extensions[truthDomain].Summary}, row.Row)
}

// waited compares how long --wait waits with the table.
func (b *logbook) waited(row shownRow) {
	b.Helper()
	digest, err := requestDigest(row.Digest)
	require.NoError(b, err)
	ctx, cancel := context.WithTimeout(b.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = requests.Wait(ctx, b.client, requests.Submitted{RequestID: row.Name, Digest: digest}, nil)
	require.Equal(b, row.truth.exit == "goes on", err != nil, "%s: %v", row.Row, err)
}

// dsrWords are the states of OpenDSR in the table, by row.
func dsrWords(t *testing.T) map[string]string {
	text, err := os.ReadFile("../../docs/truth.md")
	require.NoError(t, err)
	out := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 9 {
			out[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[6])
		}
	}
	return out
}

// inBrowser has Chromium show the rows, where there is one (make console).
func (b *logbook) inBrowser(rows []shownRow) {
	if os.Getenv("CONSOLE_MODULES") == "" || os.Getenv("CHROMIUM") == "" {
		if os.Getenv("CONSOLE") == "required" {
			b.Fatal("CONSOLE_MODULES or CHROMIUM is not set")
		}
		b.Log("there is no browser: the console is not looked at (make console)")
		return
	}
	given, err := json.Marshal(map[string]any{"url": "http://" + b.address, "rows": rows})
	require.NoError(b, err)
	node := exec.CommandContext(b.Context(), "node", "--test", "../../integration/console/truth.mjs")
	node.Env = append(os.Environ(), "CONSOLE_GIVEN="+string(given))
	out, err := node.CombinedOutput()
	require.NoError(b, err, "%s", out)
}
