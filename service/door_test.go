package service_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/service"
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
	c := smallConfig(t, t.TempDir())
	var client *http.Client
	c.HTTP.TLS, client = certificate(t)
	s := start(t, c)
	at := "https://" + s.HTTPAddress() + "/readyz"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NotEmpty(t, response.Header.Get("Strict-Transport-Security"))
	plain, err := http.Get("http://" + s.HTTPAddress() + "/readyz")
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
		c := smallConfig(t, t.TempDir())
		change(&c.HTTP)
		_, err := service.New(t.Context(), service.Options{
			Config: c, Version: "test", Random: zeroReader{}, Logger: slog.New(slog.DiscardHandler),
		})
		require.ErrorContains(t, err, want)
	}
}

// The status page runs with the policy that it is sent with: what is in it is what the policy
// names.
func TestTheStatusPageHasAPolicy(t *testing.T) {
	t.Parallel()
	s := start(t, smallConfig(t, t.TempDir()))
	response, err := http.Get("http://" + s.HTTPAddress() + "/")
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	policy := response.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "script-src 'sha256-")
	require.Contains(t, policy, "style-src 'sha256-")
	require.Equal(t, 1, bytes.Count(text, []byte("<script")))
	require.Equal(t, 1, bytes.Count(text, []byte("<style")))
	for _, inline := range []string{" onclick=", " style=", "javascript:"} {
		require.NotContains(t, string(text), inline)
	}
}

// Clients that say nothing, or say it slowly, are cut, and others are answered meanwhile.
func TestSlowClientsAreCut(t *testing.T) {
	t.Parallel()
	s := start(t, smallConfig(t, t.TempDir()))
	const slow = 200
	var clients []net.Conn
	for i := range slow {
		dialer := net.Dialer{Timeout: waitFor}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.HTTPAddress())
		require.NoError(t, err)
		defer conn.Close()
		if i%2 == 0 {
			_, err = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n")
			require.NoError(t, err)
		}
		clients = append(clients, conn)
	}
	require.Contains(t, page(t, s.HTTPAddress(), "/livez"), "ok")
	for _, conn := range clients {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(waitFor)))
		answer, err := io.ReadAll(conn)
		require.NoError(t, err, "not cut")
		require.True(t, len(answer) == 0 || strings.Contains(string(answer), "408"), "%s", answer)
	}
}

// Bodies that are too large and addresses that climb are refused.
func TestWhatIsSentIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t, smallConfig(t, t.TempDir()))
	large := strings.NewReader(`{"nodes":["` + strings.Repeat("a", 5<<20) + `"]}`)
	response, err := http.Post("http://"+s.HTTPAddress()+"/api/v1/erasures", "application/json", large)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
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
