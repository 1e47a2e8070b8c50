package guard_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service/guard"
)

// visitor is a browser at a guard.
type visitor struct {
	t *testing.T
	g *guard.Guard
	// options are those of g.
	options guard.Options
	now     *time.Time
	cookie  *http.Cookie
	proof   string
}

func newVisitor(t *testing.T, tls bool) (v *visitor, token string) {
	t.Helper()
	token, line, err := guard.NewToken("carla", []string{"compliance"}, present.Add(48*time.Hour))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	tokens, err := guard.ReadTokens(path)
	require.NoError(t, err)
	now := present
	v = &visitor{t: t, now: &now}
	v.options = guard.Options{
		Tokens: tokens, TLS: tls, Now: func() time.Time { return *v.now },
		Public: func(path string) bool { return path == "/" }, Refuse: refuse, MaxBody: 1000,
	}
	v.g = guardOf(v.options)
	return v, token
}

func (v *visitor) ask(method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	v.t.Helper()
	r := httptest.NewRequestWithContext(v.t.Context(), method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.7:4711"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	if v.proof != "" {
		r.Header.Set(guard.ProofHeader, v.proof)
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	v.g.ServeHTTP(w, r)
	return w
}

// logIn takes the cookie and the proof as a browser does.
func (v *visitor) logIn(token string) {
	v.t.Helper()
	answer := v.ask(http.MethodPost, guard.SessionPath, `{"token":"`+token+`"}`)
	require.Equal(v.t, http.StatusOK, answer.Code, answer.Body)
	var said guard.SessionAnswer
	require.NoError(v.t, json.Unmarshal(answer.Body.Bytes(), &said))
	require.Equal(v.t, "carla", said.Name)
	require.Equal(v.t, []string{"read", "erase"}, said.May)
	v.cookie, v.proof = answer.Result().Cookies()[0], said.Proof
}

func TestSessionsOfBrowsers(t *testing.T) {
	v, token := newVisitor(t, true)
	require.Equal(t, http.StatusUnauthorized, v.ask(http.MethodGet, "/api", "").Code)
	require.Equal(t, http.StatusForbidden, v.ask(http.MethodGet, "/", "").Code, "a public path lets in, with no right")
	require.Equal(t, http.StatusUnauthorized, v.ask(http.MethodPost, guard.SessionPath, `{"token":"lethe_guess"}`).Code)
	require.Equal(t, http.StatusBadRequest, v.ask(http.MethodPost, guard.SessionPath, `{`).Code)
	require.Equal(t, http.StatusUnsupportedMediaType, v.ask(http.MethodPost, guard.SessionPath, "").Code)
	require.Equal(t, http.StatusMethodNotAllowed, v.ask(http.MethodPut, guard.SessionPath, "").Code)
	require.Contains(t, v.ask(http.MethodGet, guard.SessionPath, "").Body.String(), `"login":true`)

	v.logIn(token)
	c := v.cookie
	require.True(t, c.HttpOnly && c.Secure && c.SameSite == http.SameSiteStrictMode && c.Path == "/", "%+v", c)
	require.True(t, strings.HasPrefix(c.Name, "__Host-"), "bound to this host")
	require.NotContains(t, c.Value, token)
	require.Contains(t, v.ask(http.MethodGet, "/api", "").Body.String(), "in: carla")
	require.Contains(t, v.ask(http.MethodGet, guard.SessionPath, "").Body.String(), v.proof,
		"a page that is loaded again goes on")
}

// A page of another site has the browser send the cookie at best. What changes something needs more.
func TestForgedRequestsOfASession(t *testing.T) {
	v, token := newVisitor(t, false)
	v.logIn(token)
	require.Equal(t, http.StatusOK, v.ask(http.MethodPost, "/api", "{}").Code)
	for name, forge := range map[string]func(*http.Request){
		"without the proof": func(r *http.Request) { r.Header.Del(guard.ProofHeader) },
		"with another one":  func(r *http.Request) { r.Header.Set(guard.ProofHeader, "guess") },
		"of another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"of a sibling":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"by its Origin":     func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
	} {
		for path, method := range map[string]string{"/api": http.MethodPost, guard.SessionPath: http.MethodDelete} {
			require.Equal(t, http.StatusForbidden, v.ask(method, path, "{}", forge).Code, "%s %s", name, path)
		}
	}
	require.Equal(t, http.StatusForbidden, v.ask(http.MethodPost, guard.SessionPath, `{"token":"`+token+`"}`,
		func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }).Code, "nobody is logged in by another site")
}

func TestSessionsEnd(t *testing.T) {
	v, token := newVisitor(t, false)
	v.logIn(token)
	answer := v.ask(http.MethodDelete, guard.SessionPath, "")
	require.Equal(t, http.StatusOK, answer.Code)
	require.Negative(t, answer.Result().Cookies()[0].Expires.Compare(present))
	require.Equal(t, http.StatusUnauthorized, v.ask(http.MethodGet, "/api", "").Code, "logged out")

	v.logIn(token)
	before := v.cookie
	v.logIn(token)
	now := v.cookie
	v.cookie = before
	require.Equal(t, http.StatusUnauthorized, v.ask(http.MethodGet, "/api", "").Code,
		"whoever logs in again leaves the session before")
	v.cookie = now
	*v.now = present.Add(13 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, v.ask(http.MethodGet, "/api", "").Code, "after half a day")
	*v.now = present.Add(47 * time.Hour)
	v.logIn(token)
	require.Equal(t, http.StatusOK, v.ask(http.MethodGet, "/api", "").Code)
	*v.now = present.Add(48 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, v.ask(http.MethodGet, "/api", "").Code, "with its token")
}

func TestWithoutTokensNobodyLogsIn(t *testing.T) {
	v := &visitor{t: t, g: guardOf(guard.Options{})}
	require.Contains(t, v.ask(http.MethodGet, guard.SessionPath, "").Body.String(),
		`"login":false,"name":"","may":["read","investigate","erase","operate","judge"]`)
}

// A stream of events ends when its browser leaves.
func TestAStreamEndsWhenItsBrowserLeaves(t *testing.T) {
	v, token := newVisitor(t, true)
	began, ended := make(chan struct{}), make(chan struct{})
	v.g = guard.Before(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		select {
		case <-r.Context().Done():
			close(ended)
		case <-time.After(5 * time.Second):
		}
	}), v.options)
	v.logIn(token)
	go v.ask(http.MethodGet, "/api/v1/events", "")
	<-began
	require.Equal(t, http.StatusOK, v.ask(http.MethodDelete, guard.SessionPath, "").Code)
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		require.Fail(t, "the stream goes on")
	}
}

// verifierOf answers with an error.
type verifierOf struct{ err error }

func (v verifierOf) Verify(context.Context, string) (guard.Person, error) {
	return guard.Person{}, v.err
}

// A token that could not be checked is not called unknown.
func TestATokenThatCannotBeChecked_SaysSo(t *testing.T) {
	for err, status := range map[error]int{
		guard.ErrAway: http.StatusServiceUnavailable, guard.ErrSeldom: http.StatusTooManyRequests,
		guard.ErrUnknown: http.StatusUnauthorized,
	} {
		v, _ := newVisitor(t, true)
		v.options.Verifier = verifierOf{err}
		v.g = guardOf(v.options)
		answer := v.ask(http.MethodGet, "/api", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer a.b.c") })
		require.Equal(t, status, answer.Code)
		require.Contains(t, answer.Body.String(), err.Error())
	}
}
