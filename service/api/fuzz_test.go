package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service/api"
	"lethe/service/guard"
)

// byRole is the API behind a guard with a token for every role.
type byRole struct {
	handler http.Handler
	routes  *http.ServeMux
	needs   map[string]guard.Right
	tokens  map[string]string
}

func guarded(f *testing.F) byRole {
	f.Helper()
	s := newSite(f)
	s.predicted("a", 1, .9)
	out := byRole{routes: http.NewServeMux(), needs: make(map[string]guard.Right), tokens: make(map[string]string)}
	for _, route := range api.New(api.Options{}).Routes() {
		pattern := route.Method + " " + api.Prefix + route.Path
		out.routes.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		out.needs[pattern] = route.Needs
	}
	var text string
	for _, role := range guard.Roles() {
		token, line, err := guard.NewToken(role, []string{role}, time.Time{})
		require.NoError(f, err)
		out.tokens[role], text = token, text+line+"\n"
	}
	path := filepath.Join(f.TempDir(), "tokens")
	require.NoError(f, os.WriteFile(path, []byte(text), 0o600))
	tokens, err := guard.ReadTokens(path)
	require.NoError(f, err)
	out.handler = guard.Before(s.handler, guard.Options{
		MaxBody: 1 << 16, Tokens: tokens, Refuse: api.Refuse, Now: time.Now,
	})
	return out
}

// FuzzRoutesByRole asks for anything, as anybody: without a token nothing is answered, a role gets nothing that its
// rights do not cover, and nothing that is sent makes an error of ours of it.
func FuzzRoutesByRole(f *testing.F) {
	b := guarded(f)
	roles := append(guard.Roles(), "")
	for _, route := range api.New(api.Options{}).Routes() {
		for role := range roles {
			path := strings.NewReplacer("{", "", "}", "").Replace(route.Path)
			f.Add(route.Method, path, "limit=1", []byte(`{"ids":["a"]}`), uint8(role))
		}
	}
	f.Add("GET", "/timesteps/-1/shards", "after=%00", []byte("{"), uint8(0))
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte, chosen uint8) {
		if path == "/events" {
			t.Skip("it has no end")
		}
		role := roles[int(chosen)%len(roles)]
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/", strings.NewReader(string(body)))
		r.Method, r.URL = method, &url.URL{Path: api.Prefix + path, RawQuery: query}
		r.Header.Set("Content-Type", "application/json")
		if role != "" {
			r.Header.Set("Authorization", "Bearer "+b.tokens[role])
		}
		_, pattern := b.routes.Handler(r)
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		require.NotEqual(t, http.StatusInternalServerError, w.Code, w.Body.String())
		rights, _ := guard.RightsOf(role)
		switch needs, known := b.needs[pattern]; {
		case role == "":
			require.Equal(t, http.StatusUnauthorized, w.Code)
		case known && rights&needs != needs:
			require.GreaterOrEqual(t, w.Code, 400, "%s %s as %s", method, pattern, role)
		case !known:
			require.GreaterOrEqual(t, w.Code, 300)
		}
	})
}
