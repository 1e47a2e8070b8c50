package servicetest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answer is what a service answers, with the body that was read.
type Answer struct {
	*http.Response
	Text string
}

// Ask sends a request to a running service.
func (r *Running) Ask(method, path, body string, headers ...string) Answer {
	r.T.Helper()
	return AskThrough(r.T, http.DefaultClient, method, "http://"+r.HTTPAddress()+path, body, headers...)
}

// Page is a page of a running service.
func (r *Running) Page(path string) string {
	r.T.Helper()
	return r.Ask(http.MethodGet, path, "").Text
}

// AskThrough sends a request with headers, each a name and a value, of which empty ones are left out. The body is read,
// but not that of a stream of events, which has no end.
func AskThrough(t testing.TB, client *http.Client, method, url, body string, headers ...string) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == "text/event-stream" {
		return Answer{response, ""}
	}
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return Answer{response, string(text)}
}

// Bearer is the header of a token, empty without one.
func Bearer(token string) string {
	if token == "" {
		return ""
	}
	return "Bearer " + token
}
