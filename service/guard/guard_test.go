package guard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service/guard"
)

// present is when the tests ask.
var present = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// refuse answers with the status and the detail alone.
func refuse(w http.ResponseWriter, status int, detail string) { http.Error(w, detail, status) }

// asked is what a guarded handler answers, and who it says has asked.
func asked(t *testing.T, o guard.Options, change func(r *http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	return askedOf(t, guardOf(o), change)
}

func guardOf(o guard.Options) *guard.Guard {
	o.Refuse = refuse
	if o.Now == nil {
		o.Now = func() time.Time { return present }
	}
	if o.MaxBody == 0 {
		o.MaxBody = 100
	}
	return guard.Before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			refuse(w, http.StatusRequestEntityTooLarge, "too large")
			return
		}
		guard.Needing(guard.Erase, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "in: "+guard.PersonOf(r).Name)
		}, refuse)(w, r)
	}), o)
}

func askedOf(t *testing.T, g *guard.Guard, change func(r *http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8080/api", http.NoBody)
	r.RemoteAddr = "192.0.2.7:4711"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func TestNames(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:8080": http.StatusOK, "localhost": http.StatusOK, "[::1]:80": http.StatusOK, "192.0.2.1": http.StatusOK,
		"lethe.example": http.StatusOK, "LETHE.example.:443": http.StatusOK, "rebound.example": http.StatusMisdirectedRequest,
		"localhost.example": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
		"127.0.0.1.example:8080": http.StatusMisdirectedRequest,
	} {
		o := guard.Options{Hosts: []string{"lethe.example"}}
		require.Equal(t, want, asked(t, o, func(r *http.Request) { r.Host = host }).Code, "%q", host)
	}
	o := guard.Options{Hosts: []string{"*"}}
	require.Equal(t, http.StatusOK, asked(t, o, func(r *http.Request) { r.Host = "any.example" }).Code)
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	for _, host := range []string{"localhost", "forged.example"} {
		h := asked(t, guard.Options{TLS: true}, func(r *http.Request) { r.Host = host }).Header()
		for _, name := range []string{
			"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options",
			"Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Strict-Transport-Security",
		} {
			require.NotEmpty(t, h.Get(name), "%s for %s", name, host)
		}
	}
	require.Empty(t, asked(t, guard.Options{}, nil).Header().Get("Strict-Transport-Security"), "without TLS")
}

func TestOtherSites(t *testing.T) {
	post := func(headers ...string) int {
		return asked(t, guard.Options{}, func(r *http.Request) {
			r.Method = http.MethodPost
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
		}).Code
	}
	require.Equal(t, http.StatusOK, post(), "a program")
	require.Equal(t, http.StatusOK, post("Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8080"))
	require.Equal(t, http.StatusForbidden, post("Sec-Fetch-Site", "cross-site"))
	require.Equal(t, http.StatusForbidden, post("Sec-Fetch-Site", "same-site"))
	require.Equal(t, http.StatusForbidden, post("Origin", "https://evil.example"))
	require.Equal(t, http.StatusForbidden, post("Origin", "null"))
}

func TestBodies(t *testing.T) {
	send := func(body io.Reader, length int64) int {
		return asked(t, guard.Options{MaxBody: 10}, func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(body), length
		}).Code
	}
	require.Equal(t, http.StatusOK, send(strings.NewReader("0123456789"), 10))
	require.Equal(t, http.StatusRequestEntityTooLarge, send(strings.NewReader("0123456789a"), 11))
	require.Equal(t, http.StatusRequestEntityTooLarge, send(strings.NewReader("0123456789a"), -1), "of a length not said")
}

func TestRates(t *testing.T) {
	now := present
	g := guardOf(guard.Options{PerSecond: 5, Now: func() time.Time { return now }})
	count := func(from string) (in int) {
		for range 20 {
			w := askedOf(t, g, func(r *http.Request) { r.RemoteAddr = from })
			if w.Code == http.StatusOK {
				in++
				continue
			}
			require.Equal(t, http.StatusTooManyRequests, w.Code)
			require.Equal(t, "1", w.Header().Get("Retry-After"))
		}
		return in
	}
	require.Equal(t, 10, count("192.0.2.7:1"))
	require.Equal(t, 0, count("192.0.2.7:2"), "another port is the same client")
	require.Equal(t, 10, count("192.0.2.8:1"), "another client")
	now = now.Add(time.Second)
	require.Equal(t, 5, count("192.0.2.7:1"))
	now = now.Add(-time.Hour)
	require.Equal(t, 0, count("192.0.2.7:1"), "the clock was set back")
}

// A client that asks much has nobody take the process for dead.
func TestHealthAnswersBesideABusyClient(t *testing.T) {
	g := guardOf(guard.Options{PerSecond: 5, Open: []string{"/livez", "/metrics"}, Health: []string{"/livez"}})
	at := func(path string) int {
		return askedOf(t, g, func(r *http.Request) { r.URL.Path = path }).Code
	}
	for range 50 {
		at("/api")
	}
	require.Equal(t, http.StatusTooManyRequests, at("/api"))
	require.Equal(t, http.StatusTooManyRequests, at("/metrics"))
	for range 50 {
		require.Equal(t, http.StatusOK, at("/livez"))
	}
}

// Of requests with large bodies, each of which takes some times as much memory, a few are served at once, and small
// ones beside them.
func TestLargeBodiesAreBounded(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	g := guard.Before(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Wait") != "" {
			begun <- struct{}{}
			<-end
		}
	}), guard.Options{MaxBody: 1 << 20, LargeBodies: 2, Refuse: refuse, Now: time.Now})
	ask := func(length int64, wait string) int {
		return askedOf(t, g, func(r *http.Request) {
			r.Method, r.ContentLength = http.MethodPost, length
			r.Header.Set("Wait", wait)
		}).Code
	}
	var served sync.WaitGroup
	for range 2 {
		served.Go(func() { ask(1<<20, "yes") })
		<-begun
	}
	require.Equal(t, http.StatusTooManyRequests, ask(1<<20, ""))
	require.Equal(t, http.StatusTooManyRequests, ask(-1, ""), "of a length not said")
	require.Equal(t, http.StatusOK, ask(1000, ""))
	close(end)
	served.Wait()
	require.Equal(t, http.StatusOK, ask(1<<20, ""))
}

// Without a guard nobody may do anything.
func TestWithoutAGuardNobodyGetsIn(t *testing.T) {
	w := httptest.NewRecorder()
	served := guard.Needing(guard.Read, func(http.ResponseWriter, *http.Request) { t.Error("served") }, refuse)
	served(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	require.Equal(t, http.StatusForbidden, w.Code)
}
