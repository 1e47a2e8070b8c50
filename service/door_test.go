package service_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/service/guard"
	"lethe/service/servicetest"
)

// overTLS has a service speak TLS, and returns a client that trusts it.
func overTLS(t *testing.T, c *configs.Config) *http.Client {
	certificate, key, trusted := servicetest.Certificate(t, "127.0.0.1", servicetest.NewKey(t))
	c.HTTP.TLS = configs.HTTPTLS{CertificateFile: certificate, KeyFile: key}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestPagesOverTLS(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	client := overTLS(t, &c)
	s := start(t, c)
	response := servicetest.AskThrough(t, client, http.MethodGet, "https://"+s.HTTPAddress()+"/livez", "")
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NotEmpty(t, response.Header.Get("Strict-Transport-Security"))
	plain := s.Ask(http.MethodGet, "/livez", "")
	require.Equal(t, http.StatusBadRequest, plain.StatusCode, "without TLS")
}

func TestWhatTheDoorNeedsIsNotThere(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*configs.HTTP){
		"http.tokens_file": func(h *configs.HTTP) { h.TokensFile = "/nowhere/tokens" },
		"http.tls": func(h *configs.HTTP) {
			h.TLS = configs.HTTPTLS{CertificateFile: "/nowhere/c", KeyFile: "/nowhere/k"}
		},
	} {
		c := servicetest.SmallConfig(t, t.TempDir())
		change(&c.HTTP)
		require.ErrorContains(t, refused(t, c), want)
	}
}

// The console needs no token and has a policy by which nothing runs but its own files; what it asks
// for needs one, which it gives once.
func TestTheConsoleAtTheDoor(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	token := people(t, &c, "analyst")["analyst"]
	s := start(t, c)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	t.Cleanup(browser.CloseIdleConnections)
	var proof string
	ask := func(method, path, body string) (status int, header http.Header, said string) {
		answer := servicetest.AskThrough(t, browser, method, "http://"+s.HTTPAddress()+path, body,
			"Content-Type", "application/json", guard.ProofHeader, proof)
		return answer.StatusCode, answer.Header, answer.Text
	}
	status, header, text := ask(http.MethodGet, "/", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, header.Get("Content-Security-Policy"), "script-src 'self'; style-src 'self';")
	require.Contains(t, text, "/console/app.js")
	_, header, _ = ask(http.MethodGet, "/console/app.js", "")
	require.Equal(t, "text/javascript; charset=utf-8", header.Get("Content-Type"))

	status, _, _ = ask(http.MethodGet, "/api/v1/alerts", "")
	require.Equal(t, http.StatusUnauthorized, status)
	_, _, text = ask(http.MethodPost, guard.SessionPath, `{"token":"`+token+`"}`)
	var said guard.SessionAnswer
	require.NoError(t, json.Unmarshal([]byte(text), &said))
	proof = said.Proof
	status, _, _ = ask(http.MethodGet, "/api/v1/alerts", "")
	require.Equal(t, http.StatusOK, status)
	status, _, _ = ask(http.MethodGet, "/api/v1/erasures", "")
	require.Equal(t, http.StatusForbidden, status, "an analyst sees no erasures")
	proof = ""
	status, _, _ = ask(http.MethodPost, "/api/v1/transactions/lookup", `{"ids":["a"]}`)
	require.Equal(t, http.StatusForbidden, status, "without what the session gave")
}

// A thousand clients that say nothing, or say it slowly, are cut, and others are answered within a second
// meanwhile.
func TestSlowClientsAreCut(t *testing.T) {
	t.Parallel()
	s := start(t, servicetest.SmallConfig(t, t.TempDir()))
	const slow = 1000
	var clients []net.Conn
	for i := range slow {
		dialer := net.Dialer{Timeout: servicetest.WaitFor}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.HTTPAddress())
		require.NoError(t, err)
		defer conn.Close()
		if i%2 == 0 {
			_, err = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n")
			require.NoError(t, err)
		}
		clients = append(clients, conn)
	}
	// What else the machine does decides how long one answer takes: the shortest of some is told by slow
	// clients alone.
	shortest := servicetest.WaitFor
	for range 20 {
		began := time.Now()
		require.Contains(t, s.Page("/livez"), "ok")
		if shortest = min(shortest, time.Since(began)); shortest < time.Second {
			break
		}
	}
	require.Less(t, shortest, time.Second)
	for _, conn := range clients {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(servicetest.WaitFor)))
		answer, err := io.ReadAll(conn)
		require.NoError(t, err, "not cut")
		require.True(t, len(answer) == 0 || strings.Contains(string(answer), "408"), "%s", answer)
	}
}

// Bodies that are too large and addresses that climb are refused.
func TestWhatIsSentIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t, servicetest.SmallConfig(t, t.TempDir()))
	large := `{"nodes":["` + strings.Repeat("a", 5<<20) + `"]}`
	response := s.Ask(http.MethodPost, "/api/v1/erasures", large, "Content-Type", "application/json")
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	for _, path := range []string{"/metrics", "/livez", "/readyz"} { // who asks changes nothing there
		response := s.Ask(http.MethodPost, path, "0")
		require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, path)
	}
	for _, path := range []string{
		"/../etc/passwd", "/api/v1/../../keys/secret", "/api/v1/erasures/..%2f..%2fkeys%2fsecret/receipt",
	} {
		conn, err := net.Dial("tcp", s.HTTPAddress())
		require.NoError(t, err)
		_, err = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		first, _, _ := strings.Cut(string(answer), "\r\n")
		require.NotContains(t, first, " 200 ", path)
	}
}

// Half-open connections take the connections of the HTTP port until they time out, and no more files than that.
func TestHTTP_HalfOpenConnections_AreBounded(t *testing.T) {
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	before, silent := open(), 1000
	for range silent {
		conn, err := net.Dial("tcp", r.HTTPAddress())
		require.NoError(t, err)
		defer conn.Close()
	}
	time.Sleep(200 * time.Millisecond)
	require.LessOrEqual(t, open(), before+silent+256+200, "roles connect at the same time")
	require.Eventually(t, func() bool { return page(t, r.HTTPAddress(), "/livez") != "" }, time.Minute, time.Second)
}

// failing is a listener of which some attempts to accept fail as they do without file descriptors.
type failing struct {
	net.Listener
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left--; f.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return f.Listener.Accept()
}

// What the HTTP port relies on: a lack of file descriptors does not end net/http's server.
func TestHTTP_NoFileDescriptors_IsWaitedOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(&failing{l, 5}) }()
	require.Eventually(t, func() bool { return page(t, l.Addr().String(), "/") != "" }, 10*time.Second, time.Millisecond)
	require.NoError(t, server.Close())
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
}

// A page of somebody else that has made its name stand for this address reads nothing (S8).
func TestPagesOfOthersReadNothing(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Hosts = []string{"lethe.example"}
	r := start(t, c)
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:8080": 200, "[::1]:8080": 200, "10.0.0.7:8080": 200, "lethe.example": 200,
		"lethe.example:443": 200, "evil.example": 421, "localhost.evil.example": 421, "evil.example:8080": 421,
		"127.0.0.1.evil.example": 421,
	} {
		for _, path := range []string{"/", "/api/v1/status"} {
			response := r.Ask(http.MethodGet, path, "", "Host", host)
			require.Equal(t, want, response.StatusCode, "%s of %s", path, host)
		}
		response := r.Ask(http.MethodGet, "/metrics", "", "Host", host)
		require.Equal(t, http.StatusOK, response.StatusCode, host)
	}
	response := r.Ask(http.MethodGet, "/", "")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		require.Equal(t, want, response.Header.Get(name))
	}
	policy := response.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	require.Contains(t, policy, "script-src 'self'")
	inline := regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\son[a-z]+\s*=`)
	require.False(t, inline.MatchString(response.Text), "the policy would keep what stands in the page from running")
}
