package guard_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service/guard"
)

// What goes on, as a stream of events does, ends when the token or the session does.
func TestAStreamEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, byName := tokens(t, map[string][]string{"anna": {"viewer"}}, time.Now().Add(time.Hour))
		known, err := guard.ReadTokens(path)
		require.NoError(t, err)
		var ended time.Duration
		began := time.Now()
		g := guard.Before(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(24 * time.Hour):
			}
			ended = time.Since(began)
		}), guard.Options{Tokens: known, Refuse: refuse, Now: time.Now, MaxBody: 1000})
		require.Equal(t, http.StatusOK, askedOf(t, g, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+byName["anna"])
		}).Code)
		require.LessOrEqual(t, ended, time.Hour)
		require.Greater(t, ended, 59*time.Minute)
	})
}

// tokens writes a file of tokens, each a name with its roles, and returns it with the tokens.
func tokens(t *testing.T, people map[string][]string, expires time.Time) (path string, byName map[string]string) {
	t.Helper()
	byName = make(map[string]string)
	text := "# who may come in\n\n"
	for name, roles := range people {
		token, line, err := guard.NewToken(name, roles, expires)
		require.NoError(t, err)
		require.NotContains(t, line, token)
		byName[name] = token
		text += line + "\n"
	}
	path = filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path, byName
}

func TestTokens(t *testing.T) {
	people := make(map[string][]string)
	for _, role := range guard.Roles() {
		people[role+"-person"] = []string{role}
	}
	people["both"] = []string{"viewer", "compliance"}
	path, byName := tokens(t, people, present.Add(time.Hour))
	known, err := guard.ReadTokens(path)
	require.NoError(t, err)
	o := guard.Options{Tokens: known, Open: []string{"/livez"}}
	ask := func(token string, at time.Time) *httptest.ResponseRecorder {
		o.Now = func() time.Time { return at }
		return asked(t, o, func(r *http.Request) {
			if token != "" {
				r.Header.Set("Authorization", token)
			}
		})
	}
	for name, want := range map[string]int{
		"viewer-person": http.StatusForbidden, "analyst-person": http.StatusForbidden, "admin-person": http.StatusForbidden,
		"compliance-person": http.StatusOK, "both": http.StatusOK,
	} {
		w := ask("Bearer "+byName[name], present)
		require.Equal(t, want, w.Code, name)
		if want == http.StatusOK {
			require.Equal(t, "in: "+name, w.Body.String())
		}
		require.Equal(t, http.StatusUnauthorized, ask("Bearer "+byName[name], present.Add(time.Hour)).Code, "expired")
	}
	for _, token := range []string{"", "Bearer ", "Bearer lethe_wrong", "Basic " + byName["both"], byName["both"]} {
		w := ask(token, present)
		require.Equal(t, http.StatusUnauthorized, w.Code, "%q", token)
		require.NotEmpty(t, w.Header().Get("WWW-Authenticate"))
	}
	open := asked(t, o, func(r *http.Request) { r.URL.Path = "/livez" })
	require.Equal(t, http.StatusForbidden, open.Code, "open, and nobody has rights there")
}

func TestFilesOfTokens(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"":                            "no token is in it",
		"# nothing":                   "no token is in it",
		"a viewer":                    "line 1: 2 fields",
		"\na king " + hash:            `line 2: role "king" is not one of admin, analyst, compliance, viewer`,
		"a viewer 00":                 "line 1: the third field is no SHA-256",
		"a viewer " + hash + " soon":  "line 1: the fourth field is no time",
		"a viewer " + hash + " 1 2 3": "line 1: 6 fields",
		"a viewer " + hash + "\nb viewer " + hash: "line 2: the token stands in it twice",
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := guard.ReadTokens(path)
		require.ErrorIs(t, err, guard.ErrTokens, "%q", text)
		require.ErrorContains(t, err, want)
	}
	path, _ := tokens(t, map[string][]string{"a": {"viewer"}}, time.Time{})
	require.NoError(t, os.Chmod(path, 0o666))
	_, err := guard.ReadTokens(path)
	require.ErrorContains(t, err, "others may write it")
	_, err = guard.ReadTokens(filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, name := range []string{"", "two words", "#one"} {
		_, _, err := guard.NewToken(name, []string{"viewer"}, time.Time{})
		require.Error(t, err, "%q", name)
	}
}
