package service_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/service"
	"lethe/service/guard"
	"lethe/service/servicetest"
)

// certificate writes one of 127.0.0.1 that signs itself, and returns who trusts it.
func certificate(t *testing.T) (files configs.HTTPTLS, trusting *http.Client) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	files = configs.HTTPTLS{CertificateFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{
		files.CertificateFile: {Type: "CERTIFICATE", Bytes: der}, files.KeyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return files, &http.Client{Transport: transport}
}

func TestPagesOverTLS(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	var client *http.Client
	c.HTTP.TLS, client = certificate(t)
	s := start(t, c)
	at := "https://" + s.HTTPAddress() + "/livez"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NotEmpty(t, response.Header.Get("Strict-Transport-Security"))
	plain, err := http.Get("http://" + s.HTTPAddress() + "/livez")
	require.NoError(t, err)
	require.NoError(t, plain.Body.Close())
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
		_, err := service.New(t.Context(), service.Options{
			Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
		})
		require.ErrorContains(t, err, want)
	}
}

// The console needs no token and has a policy by which nothing runs but its own files; what it asks
// for needs one, which it gives once.
func TestTheConsoleAtTheDoor(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	token, line, err := guard.NewToken("anna", []string{"analyst"}, time.Time{})
	require.NoError(t, err)
	c.HTTP.TokensFile = filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(c.HTTP.TokensFile, []byte(line+"\n"), 0o600))
	s := start(t, c)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	t.Cleanup(browser.CloseIdleConnections)
	var proof string
	ask := func(method, path, body string) (status int, header http.Header, said string) {
		at := "http://" + s.HTTPAddress() + path
		request, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(guard.ProofHeader, proof)
		response, err := browser.Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, response.Header, string(text)
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
		require.Contains(t, page(t, s.HTTPAddress(), "/livez"), "ok")
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
	large := strings.NewReader(`{"nodes":["` + strings.Repeat("a", 5<<20) + `"]}`)
	response, err := http.Post("http://"+s.HTTPAddress()+"/api/v1/erasures", "application/json", large)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	for _, path := range []string{"/metrics", "/livez", "/readyz"} { // who asks changes nothing there
		response, err := http.Post("http://"+s.HTTPAddress()+path, "text/plain", strings.NewReader("0"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
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
