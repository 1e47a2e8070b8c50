package servicetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

// Inbox takes alerts, or refuses them.
type Inbox struct {
	mu      sync.Mutex
	refuses bool
	bodies  []string
}

// ServeHTTP keeps what came.
func (i *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refuses {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	if text, err := io.ReadAll(r.Body); err == nil {
		i.bodies = append(i.bodies, string(text))
	}
}

// Bodies are what came, in order.
func (i *Inbox) Bodies() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.bodies)
}

// Told are the transactions that the alerts are about.
func (i *Inbox) Told() []string {
	came := []string{}
	for _, text := range i.Bodies() {
		var alert struct {
			Data struct {
				Transaction string `json:"transaction"`
			} `json:"data"`
		}
		if json.Unmarshal([]byte(text), &alert) == nil {
			came = append(came, alert.Data.Transaction)
		}
	}
	return came
}

func (i *Inbox) Refuse(refuses bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refuses = refuses
}

// Alerting has a deployment post its alerts to an inbox.
func Alerting(t *testing.T, c *configs.Config) *Inbox {
	t.Helper()
	to := new(Inbox)
	server := httptest.NewServer(to)
	t.Cleanup(server.Close)
	secret := filepath.Join(t.TempDir(), "webhook.secret")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n"), 0o600))
	c.Webhooks.URL, c.Webhooks.SecretFile, c.Webhooks.AllowPrivate = server.URL, secret, true
	c.Scoring.Threshold = "budget:7"
	return to
}
