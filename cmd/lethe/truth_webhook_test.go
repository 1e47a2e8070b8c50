package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// posted is a receiver of webhooks.
type posted struct {
	*httptest.Server
	// secret is the file of the secret that signs them.
	secret string
	mu     sync.Mutex
	bodies []string
}

func newPosted(t *testing.T) *posted {
	p := &posted{secret: filepath.Join(t.TempDir(), "secret")}
	require.NoError(t, os.WriteFile(p.secret, []byte("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n"), 0o600))
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bodies = append(p.bodies, string(body)+fmt.Sprint(err))
	}))
	t.Cleanup(p.Close)
	return p
}

// onlyAlerts fails if something else than alerts was posted.
func (p *posted) onlyAlerts(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotEmpty(t, p.bodies)
	for _, body := range p.bodies {
		require.Contains(t, body, `"type":"alert"`)
		require.NotContains(t, body, "r-")
		require.NotContains(t, body, "eras")
	}
}
