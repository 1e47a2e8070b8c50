package servicetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

// Inbox takes alerts, or refuses them.
type Inbox struct {
	mu      sync.Mutex
	refuses bool
	came    []string
}

// ServeHTTP notes whom an alert is about.
func (i *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (i *Inbox) Told() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string{}, i.came...)
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
