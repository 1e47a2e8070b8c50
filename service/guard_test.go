package service_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"lethe/service/servicetest"

	"github.com/stretchr/testify/require"
)

// A page of somebody else that has made its name stand for this address reads nothing (S8).
func TestPagesOfOthersReadNothing(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Hosts = []string{"lethe.example"}
	r := start(t, c)
	ask := func(path, host string) (status int, header http.Header, body []byte) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.HTTPAddress()+path, nil)
		require.NoError(t, err)
		if host != "" {
			request.Host = host
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err = io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, response.Header, body
	}
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:8080": 200, "[::1]:8080": 200, "10.0.0.7:8080": 200, "lethe.example": 200,
		"lethe.example:443": 200, "evil.example": 421, "localhost.evil.example": 421, "evil.example:8080": 421,
		"127.0.0.1.evil.example": 421,
	} {
		for _, path := range []string{"/", "/api/v1/status"} {
			status, _, _ := ask(path, host)
			require.Equal(t, want, status, "%s of %s", path, host)
		}
		status, _, _ := ask("/metrics", host)
		require.Equal(t, http.StatusOK, status, host)
	}
	_, header, text := ask("/", "")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		require.Equal(t, want, header.Get(name))
	}
	policy := header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	require.Contains(t, policy, "script-src 'self'")
	inline := regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\son[a-z]+\s*=`)
	require.False(t, inline.Match(text), "the policy would keep what stands in the page from running")
}
