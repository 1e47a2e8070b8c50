package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest/authority"
	"lethe/service"
	"lethe/service/api"
	"lethe/service/servicetest"
)

// truth is a row of the table in docs/truth.md.
type truth struct {
	state, summary, result, exit, receipt string
}

// truths reads the table, by the first column.
func truths(t *testing.T) map[string]truth {
	text, err := os.ReadFile("../../docs/truth.md")
	require.NoError(t, err)
	out := make(map[string]truth)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "request" {
			continue
		}
		for i, cell := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cell), "`")
		}
		out[cells[1]] = truth{cells[2], cells[3], strings.Trim(cells[4], "–"), cells[5], cells[7]}
	}
	require.NotEmpty(t, out)
	return out
}

// Every state of the ledger is in the table, with the summary that is computed for it.
func TestTruth_EveryState(t *testing.T) {
	table := truths(t)
	seen := make(map[string]bool)
	for _, row := range table {
		seen[row.state] = true
	}
	for _, state := range deletions.States() {
		if state == deletions.Held {
			continue // told by what it waits for
		}
		require.True(t, seen[string(state)], "%s is in no row", state)
		s := deletions.Status{State: state}
		switch state {
		case deletions.Failed:
			s.Failure = deletions.FailedBroker
		case deletions.Rejected:
			s.Failure = deletions.RejectedConflict
		default:
		}
		var summaries []string
		for _, row := range table {
			if row.state == string(state) {
				summaries = append(summaries, row.summary)
			}
		}
		require.Contains(t, summaries, s.Summary())
	}
}

// TestTruth walks one deployment through requests of every kind and compares what its surfaces say with the table.
func TestTruth(t *testing.T) {
	table := truths(t)
	b := newLogbook(t)
	keys := b.signers("anna", "bert")
	alerting := configs.Default()
	hook := servicetest.Alerting(t, &alerting)
	b.configure = func(c *configs.Config) {
		c.Webhooks = alerting.Webhooks
		c.Partition.Shards, c.Trainer.Passes = 2, 1
		c.Signatures = authority.Config{KeysFile: keys, Requests: 2}
	}
	require.Empty(t, b.serve())
	defer func() { b.stop(0) }()
	o := dataset.GenerateDefaults()
	o.Steps, o.NodesPerStep, o.Features, o.Seed = 2, 40, 6, 5
	stream, err := dataset.Generate(o)
	require.NoError(t, err)
	_, err = service.Replay(t.Context(), b.client, stream, service.ReplayOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var s service.Status
		return b.read("/api/v1/status", &s) == http.StatusOK && s.Timesteps.Settled == 2 && s.LagRecords == 0
	}, time.Minute, 50*time.Millisecond)
	id := func(i int) string { return string(stream.Steps[0].Transactions[i].ID) }

	common := []string{"--brokers", b.brokers, "--data-dir", b.data}
	sign := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, "--sign", filepath.Join(b.folder, name))
		}
		return out
	}
	both := sign("anna", "bert")
	submit := func(name string, by []string, nodes ...string) (status int, digest string) {
		args := append([]string{"erase", "submit", "--request-id", name, "--wait", "--json"}, common...)
		for _, node := range nodes {
			args = append(args, "--node", node)
		}
		status, stdout, stderr := execute(t, append(args, by...)...)
		var said struct {
			Digest string `json:"request_digest"`
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &said), "%s%s", stdout, stderr)
		return status, said.Digest
	}
	// check compares every surface with a row of the table.
	check := func(row, name, digest string) {
		t.Helper()
		want, known := table[row]
		require.True(t, known, row)
		headline, failure, _ := strings.Cut(want.summary, ": ")
		if want.state != string(deletions.Rejected) {
			headline, failure = want.summary, ""
		}
		_, text, _ := execute(t, append([]string{"erase", "status", digest}, common...)...)
		require.Contains(t, text, "request "+name+": "+headline+" (scope stubs)")
		require.Contains(t, text, failure)
		_, list, _ := execute(t, append([]string{"erase", "list"}, common...)...)
		require.Regexp(t, name+` +`+want.summary+` +stubs .*`+digest[:12], list)
		_, text, _ = execute(t, append([]string{"erase", "status", digest, "--json"}, common...)...)
		var report deletions.Report
		require.NoError(t, json.Unmarshal([]byte(text), &report))
		require.Equal(t, want, truth{string(report.State), report.Summary, string(report.Result), want.exit, want.receipt})
		for _, key := range []string{digest, digest[:8]} {
			var shown api.Erasure
			require.Eventually(t, func() bool {
				return b.read("/api/v1/erasures/"+key, &shown) == http.StatusOK && string(shown.State) == want.state
			}, time.Minute, 20*time.Millisecond)
			require.Equal(t, want.summary, shown.Summary)
			require.Equal(t, want.result, string(shown.Result))
		}
		b.receipts(digest, name, want)
	}
	exits := func(row string, got int) {
		t.Helper()
		require.Equal(t, table[row].exit, strconv.Itoa(got), row)
	}

	status, digest := submit("r-erased", both, id(0))
	exits("verified", status)
	check("verified", "r-erased", digest)
	status, digest = submit("r-before", both, id(0))
	exits("erased before", status)
	check("erased before", "r-before", digest)
	status, digest = submit("r-partly", both, id(1), "misspelt-1")
	exits("partly held", status)
	check("partly held", "r-partly", digest)
	status, digest = submit("r-nothing", both, "misspelt-2")
	exits("nothing held", status)
	check("nothing held", "r-nothing", digest)

	// V25: the name is taken.
	status, digest = submit("r-erased", both, id(2))
	exits("name taken", status)
	check("name taken", "r-erased", digest)
	status, text, _ := execute(t, append([]string{"erase", "status", "r-erased"}, common...)...)
	require.Equal(t, 1, status, "one of two requests under the name is not verified")
	require.Contains(t, text, "request r-erased: verified (scope stubs)")
	require.Contains(t, text, "request r-erased: rejected (scope stubs)")

	// V27: it waits for a second signature, then for a hold, and is taken back.
	status, digest = submit("r-signed", sign("anna"), id(3))
	exits("waits for a signature", status)
	check("waits for a signature", "r-signed", digest)
	status, _, stderr := execute(t, append(append([]string{"hold", "set", "--name", "case-7", "--reason", "court",
		"--node", id(4)}, common...), sign("anna")...)...)
	require.Zero(t, status, stderr)
	status, digest = submit("r-held", both, id(4))
	exits("held", status)
	check("held", "r-held", digest)
	// V29: a plan names the hold. V26: it names what is not held.
	var plan service.Plan
	require.Equal(t, http.StatusOK, b.post("/api/v1/erasures/plan",
		service.PlanRequest{Nodes: []string{id(4), "misspelt-3"}}, &plan))
	require.Equal(t, []deletions.WaitsForHold{{Name: "case-7"}}, plan.Holds)
	require.Equal(t, []string{"misspelt-3"}, plan.Unknown.All())
	status, _, stderr = execute(t, append(append([]string{"erase", "cancel", digest[:8]}, common...), sign("anna")...)...)
	require.Zero(t, status, stderr)
	check("taken back", "r-held", digest)

	// V34
	status, _, stderr = execute(t, append([]string{"erase", "status", "nobody"}, common...)...)
	require.Equal(t, table["unknown"].exit, strconv.Itoa(status))
	require.Contains(t, stderr, table["unknown"].summary[:len("no such")])
	require.Equal(t, http.StatusNotFound, b.read("/api/v1/erasures/nobody", nil))

	metrics := b.text("/metrics")
	for result, n := range map[string]int{"erased": 1, "already_erased": 1, "partly_held": 1, "nothing_held": 1} {
		require.Contains(t, metrics, `lethe_erasure_results_total{result="`+result+`"} `+strconv.Itoa(n))
	}
	// Each request is counted once in every state, however often its status was published.
	for state, n := range map[deletions.State]int{
		deletions.Received: 6, deletions.Accepted: 4, deletions.Suppressed: 4, deletions.Rewriting: 4,
		deletions.Retraining: 4, deletions.Swapped: 4, deletions.Erased: 4, deletions.Verified: 4, deletions.Held: 2,
		deletions.Cancelled: 1, deletions.Rejected: 1,
	} {
		line := `lethe_erasure_requests_total{state="` + string(state) + `"} ` + strconv.Itoa(n) + "\n"
		require.True(t, strings.Contains(metrics, line), line)
	}
	require.NotEmpty(t, hook.Bodies())
	for _, body := range hook.Bodies() {
		require.Contains(t, body, `"type":"alert"`)
		require.NotContains(t, body, "r-")
		require.NotContains(t, body, "eras")
	}
}

// signers makes the keys of people who may sign, and returns the file that a service knows them by.
func (b *logbook) signers(names ...string) (keys string) {
	keys = filepath.Join(b.folder, "authority.keys")
	var lines strings.Builder
	for _, name := range names {
		status, line, stderr := execute(b.T, "keys", "generate", "--role", "compliance", "--holder", name, "--out",
			filepath.Join(b.folder, name))
		require.Zero(b, status, stderr)
		lines.WriteString(line)
	}
	require.NoError(b, os.WriteFile(keys, []byte(lines.String()), 0o600))
	return keys
}

// receipts compares the receipt of a request in its renderings with the table.
func (b *logbook) receipts(digest, name string, want truth) {
	b.Helper()
	if want.receipt == "none" {
		require.Equal(b, http.StatusNotFound, b.read("/api/v1/erasures/"+digest+"/receipt", nil))
		return
	}
	require.Eventually(b, func() bool { return b.read("/api/v1/erasures/"+digest+"/receipt", nil) == http.StatusOK },
		time.Minute, 20*time.Millisecond)
	file, page := filepath.Join(b.folder, name+".json"), filepath.Join(b.folder, name+".html")
	require.NoError(b, os.WriteFile(file, []byte(b.text("/api/v1/erasures/"+digest+"/receipt")), 0o600))
	status, text, stderr := execute(b.T, "receipt", "verify", file, "--data-dir", b.data)
	require.Zero(b, status, stderr)
	require.Contains(b, text, "\n"+want.receipt+"\n")
	_, text, _ = execute(b.T, "receipt", "show", file)
	require.Contains(b, text, want.receipt+"\nrequest "+name+", everything searched at ")
	status, text, stderr = execute(b.T, "receipt", "verify", file, "--data-dir", b.data, "--json")
	require.Zero(b, status, stderr)
	require.Contains(b, text, `"result": "`+want.result+`"`)
	status, _, stderr = execute(b.T, "receipt", "export", file, "--html", "--out", page, "--data-dir", b.data)
	require.Zero(b, status, stderr)
	html, err := os.ReadFile(page)
	require.NoError(b, err)
	require.Contains(b, string(html), `<p class="finding">`+want.receipt+`</p>`)
}

// read asks for a path and reads the JSON, if it is wanted.
func (b *logbook) read(path string, into any) int { return b.send(http.MethodGet, path, nil, into) }

func (b *logbook) post(path string, body, into any) int {
	return b.send(http.MethodPost, path, body, into)
}

func (b *logbook) text(path string) string { return b.asked(http.MethodGet, path, "").Text }

func (b *logbook) send(method, path string, body, into any) int {
	sent, err := json.Marshal(body)
	require.NoError(b, err)
	response := b.asked(method, path, string(sent))
	if response.StatusCode == http.StatusOK && into != nil {
		require.NoError(b, json.Unmarshal([]byte(response.Text), into))
	}
	return response.StatusCode
}

func (b *logbook) asked(method, path, body string) servicetest.Answer {
	return servicetest.AskThrough(b, http.DefaultClient, method, "http://"+b.address+path, body,
		"Content-Type", "application/json")
}
