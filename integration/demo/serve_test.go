package demo_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
	"lethe/service/api"
)

// get reads one answer of the API.
func get(t *testing.T, url string, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, url)
	require.NoError(t, json.NewDecoder(response.Body).Decode(into), url)
}

// The last line of lethe demo --serve is the address of a console with alerts, whose reasons name features.
func TestServedDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole demo; left out of the short run")
	}
	c := exec.CommandContext(t.Context(), process.Build(t), "demo", "--serve", "--steps", "3",
		"--data-dir", filepath.Join(t.TempDir(), "data"), "--set", "partition.shards=2", "--set", "trainer.passes=1",
		"--set", "trainer.hidden=8", "--set", "http.address=127.0.0.1:0", "--set", "embedded.port=0")
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	var stderr strings.Builder
	c.Stderr = &stderr
	require.NoError(t, c.Start())
	address, lines := "", bufio.NewScanner(out)
	for address == "" && lines.Scan() {
		address, _ = strings.CutPrefix(lines.Text(), "console, until Ctrl-C: ")
		if !strings.HasPrefix(address, "http://") {
			address = ""
		}
	}
	require.NotEmpty(t, address, "no line has the address of the console: %s", &stderr)

	var alerts api.Page[api.Scored]
	get(t, address+"/api/v1/alerts", &alerts)
	require.NotEmpty(t, alerts.Items, "the console has no alerts")
	var reasons json.RawMessage
	get(t, address+"/api/v1/transactions/"+alerts.Items[0].Ref.String()+"/reasons", &reasons)
	require.Contains(t, string(reasons), `"name":"`, "reasons name no feature")

	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Empty(t, strings.TrimSpace(string(rest)), "the address is not the last line")
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		require.NoError(t, err, "%s", &stderr)
	case <-time.After(time.Minute):
		t.Fatal("the served demo does not end when it is interrupted")
	}
}
