package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/stretchr/testify/require"

	"lethe/service/api"
)

// answer is what a question came to.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask asks, and compares with the description unless the question is to be refused.
func (s *site) ask(method, path string, body any, headers ...string) answer {
	s.t.Helper()
	var sent []byte
	if body != nil {
		var err error
		sent, err = json.Marshal(body)
		require.NoError(s.t, err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+api.Prefix+path, bytes.NewReader(sent))
	require.NoError(s.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	got, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	out := answer{response.StatusCode, response.Header, got}
	if response.StatusCode == http.StatusNotModified {
		require.Empty(s.t, got)
		return out
	}
	require.NoError(s.t, s.checks.Response(request, response, got), "%s %s answers %s", method, path, got)
	if response.StatusCode < http.StatusBadRequest {
		require.NoError(s.t, s.checks.Request(request, sent), "%s %s", method, path)
	} else {
		require.Equal(s.t, "application/problem+json", response.Header.Get("Content-Type"))
	}
	return out
}

func (s *site) get(path string, into any) answer {
	s.t.Helper()
	out := s.ask(http.MethodGet, path, nil)
	require.Equal(s.t, http.StatusOK, out.status, "%s", out.body)
	require.NoError(s.t, json.Unmarshal(out.body, into))
	return out
}
