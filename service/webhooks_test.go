package service_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/service"
	"lethe/service/servicetest"
)

// receiver starts the example of a case-management system, and returns where it listens.
func receiver(t *testing.T, secretFile, cases string) (url string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("INTEROP") == "" {
		t.Skip("no python3: the example of a receiver is not run")
	}
	require.NoError(t, err)
	command := exec.Command(python, "../examples/cases/receiver.py", "--secret-file", secretFile, "--cases", cases,
		"--port", "0")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		require.NoError(t, command.Process.Kill())
		command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return "http://127.0.0.1:" + strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
}

// cases lists the transactions that have a case.
func cases(t *testing.T, path string) (out []string) {
	t.Helper()
	const list = "import sqlite3,sys,json; rows=sqlite3.connect(sys.argv[1]).execute('SELECT txn FROM cases'); " +
		"print(json.dumps([r[0] for r in rows]))"
	text, err := exec.Command("python3", "-c", list, path).Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(bytes.TrimSpace(text), &out))
	return out
}

// Every alert of a running deployment has a case in the system that it is posted to, and no other
// transaction has one; an erasure meanwhile is verified.
func TestACaseIsOpenedForEveryAlert(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 43)
	config := servicetest.SmallConfig(t, t.TempDir())
	config.Scoring.Threshold = "budget:7"
	dir := t.TempDir()
	secret, db := filepath.Join(dir, "secret"), filepath.Join(dir, "cases.db")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n"), 0o600))
	config.Webhooks.URL, config.Webhooks.SecretFile, config.Webhooks.AllowPrivate = receiver(t, secret, db), secret, true
	s := start(t, config)
	s.Replay(stream)
	alerts := make(map[string]bool)
	s.Await(func(st *service.Status) bool {
		clear(alerts)
		final := 0
		for key, value := range s.Newest(bus.Predictions) {
			p, err := scoring.DecodePrediction([]byte(value))
			require.NoError(t, err)
			if p.Final {
				final++
			}
			if p.Final && p.Class == "illicit" {
				alerts[key] = true
			}
		}
		return final == 3*60
	})
	require.NotEmpty(t, alerts)
	require.Less(t, len(alerts), 3*60)
	require.Eventually(t, func() bool { return len(cases(t, db)) >= len(alerts) }, servicetest.WaitFor, servicetest.Tick)
	opened := cases(t, db)
	require.Len(t, opened, len(alerts))
	for _, id := range opened {
		require.True(t, alerts[id], "a case without an alert")
	}
	submit(s, request(t, "webhook", servicetest.LabelledIllicit(stream, 3)[0]))
	require.Equal(t, deletions.Verified, s.Outcome("webhook"))
	s.Stop()
	kept, err := os.ReadFile(service.WebhooksPath(config.DataDir))
	require.NoError(t, err)
	for id := range alerts {
		require.NotContains(t, string(kept), id)
	}
}

// What webhooks post is as its schema says.
func TestWebhooksKeepTheirContract(t *testing.T) {
	body, err := json.Marshal(map[string]any{
		"type": "alert", "timestamp": time.Now().UTC(), "data": scoring.Prediction{
			ID: strings.Repeat("a", 64), Transaction: "t", Class: "illicit", Threshold: .5, Probability: .7, Aggregation: "mean",
			EnsembleVersion: [32]byte{1}, Final: true,
		},
	})
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, contracts(t)["alert-webhook.v1"].Validate(value))
}
