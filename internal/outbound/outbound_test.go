package outbound_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/outbound"
)

// Addresses beyond the public network are refused as they are written.
func TestPrivateAddressesAreRefused(t *testing.T) {
	for _, url := range []string{
		"http://example.com/", "ftp://example.com/", "https://user:password@example.com/", "https:///", "https://127.0.0.1/",
		"https://10.1.2.3/", "https://[::1]/", "https://[fd00::1]/", "https://169.254.169.254/", "https://100.64.0.1/",
		"https://[::ffff:10.0.0.1]/", "https://0.0.0.0/", "https://[64:ff9b::7f00:1]/",
	} {
		require.Error(t, outbound.CheckURL(url, false), url)
	}
	require.NoError(t, outbound.CheckURL("https://example.com/alerts", false))
	require.NoError(t, outbound.CheckURL("http://10.1.2.3/alerts", true))
	require.Error(t, outbound.CheckURL("http://169.254.169.254/latest", true), "never the local link")
}

// A connection goes where it may, whatever its name is, and no redirect is followed.
func TestConnectionsGoWhereTheyMay(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	get := func(allowPrivate bool) (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		return outbound.Client(allowPrivate, time.Minute).Do(request)
	}
	response, err := get(false)
	if err == nil {
		require.NoError(t, response.Body.Close())
	}
	require.ErrorIs(t, err, outbound.ErrAddress)
	require.Zero(t, asked)
	response, err = get(true)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusFound, response.StatusCode)
	require.Equal(t, 1, asked)
}
