package service_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/service"
	"lethe/service/backup"
)

// inbox takes alerts, or refuses them.
type inbox struct {
	mu      sync.Mutex
	refuses bool
	came    []string
}

// ServeHTTP notes whom an alert is about.
func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refuses {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	var alert struct {
		Data struct {
			Transaction string `json:"transaction"`
		} `json:"data"`
	}
	if text, err := io.ReadAll(r.Body); err == nil && json.Unmarshal(text, &alert) == nil {
		i.came = append(i.came, alert.Data.Transaction)
	}
}

func (i *inbox) told() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string{}, i.came...)
}

func (i *inbox) refuse(refuses bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refuses = refuses
}

// alerting has a deployment post its alerts to an inbox.
func alerting(t *testing.T, c *configs.Config) *inbox {
	t.Helper()
	to := new(inbox)
	server := httptest.NewServer(to)
	t.Cleanup(server.Close)
	secret := filepath.Join(t.TempDir(), "webhook.secret")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n"), 0o600))
	c.Webhooks.URL, c.Webhooks.SecretFile, c.Webhooks.AllowPrivate = server.URL, secret, true
	c.Scoring.Threshold = "budget:7"
	return to
}

// A rotation of the secret tells nobody of anything. What was not delivered before is not lost.
func TestARotationPostsNoAlerts(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 4, 60, 43)
	c := ownSecret(t)
	to := alerting(t, &c)
	s := start(t, c)
	s.replay(stream)
	require.Eventually(t, func() bool { return len(to.told()) >= 14 }, waitFor, tick)
	s.stop()
	before := to.told()
	state, err := os.ReadFile(service.WebhooksPath(c.DataDir))
	require.NoError(t, err)
	c = rotated(t, c)
	require.Equal(t, before, to.told())
	after, err := os.ReadFile(service.WebhooksPath(c.DataDir))
	require.NoError(t, err)
	require.Equal(t, string(state), string(after))
}

// Once a backup is put back nobody hears of what was erased since, also not of alerts that could not be delivered when
// it was made.
func TestARestorePostsNothingThatIsErased(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 4, 60, 43)
	c := smallConfig(t, t.TempDir())
	to := alerting(t, &c)
	s := start(t, c)
	s.replay(stream)
	require.Eventually(t, func() bool { return len(to.told()) >= 14 }, waitFor, tick)
	alert := lethe.TransactionID(to.told()[0])
	s.stop()
	c.DataDir = t.TempDir()
	to.refuse(true)
	s = start(t, c)
	s.replay(stream)
	s.stop()
	path, _ := madeOf(t, c, 24*time.Hour)
	s = start(t, c)
	require.Equal(t, deletions.Verified, s.erase("after", lethe.ScopeStubs, alert))
	s.stop()

	to.refuse(false)
	known := len(to.told())
	put := c
	put.DataDir = filepath.Join(t.TempDir(), "put-back")
	_, err := backup.Restore{Config: put, From: path, Ledger: c.DataDir, Now: time.Now()}.Run()
	require.NoError(t, err)
	_, err = backup.Finish(t.Context(), put, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NotContains(t, to.told()[known:], string(alert))
	require.Empty(t, to.told()[known:], "it is not in its place yet")
	start(t, put)
	require.Eventually(t, func() bool { return len(to.told()[known:]) >= 10 }, waitFor, tick)
	require.NotContains(t, to.told()[known:], string(alert))
}
