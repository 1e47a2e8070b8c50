package service_test

import (
	"bytes"
	"net/http"
	"testing"

	"lethe/service/servicetest"

	"github.com/stretchr/testify/require"
)

// What is held of a target is told to this machine alone: not to who comes through a proxy on it,
// and not to a page whose site has taken its address.
func TestAnExportIsForThisMachineAlone(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Hosts = []string{"rebound.example", "localhost.example"} // pages answer under these, exports do not
	s := start(t, c)
	s.Replay(servicetest.SmallStream(t, 2, 40, 9))
	for _, c := range []struct {
		host, header string
		want         int
	}{
		{"", "", http.StatusOK},
		{"localhost:8080", "", http.StatusOK},
		{"[::1]:8080", "", http.StatusOK},
		{"127.0.0.1", "", http.StatusOK},
		{"rebound.example:8080", "", http.StatusForbidden},
		{"localhost.example", "", http.StatusForbidden},
		{"", "X-Forwarded-For", http.StatusForbidden},
		{"", "Forwarded", http.StatusForbidden},
	} {
		body := []byte(`{"nodes":["nobody"],"scopes":["stubs"],"export":true}`)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			"http://"+s.HTTPAddress()+"/api/v1/erasures/plan", bytes.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		if request.Host = c.host; c.header != "" {
			request.Header.Set(c.header, "192.0.2.1")
		}
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, c.want, answer.StatusCode, "%+v", c)
	}
}
