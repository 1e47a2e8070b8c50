package service

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"lethe/configs"
	"lethe/service/api"
	"lethe/service/guard"
)

// What a client may take: of time, and of room.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 30 * time.Second
	writeTimeout   = planTimeout + readTimeout
	idleTimeout    = time.Minute
	maxHeaderBytes = 32 << 10
)

// serverOf returns the server of a handler, with who gets in as the configuration says.
func serverOf(next http.Handler, c configs.HTTP) (*http.Server, error) {
	o := guard.Options{
		Hosts: c.Hosts, Open: []string{"/livez", "/readyz", "/metrics"}, MaxBody: maxPlanBytes,
		PerSecond: c.RequestsPerSecond, TLS: c.TLS.Enabled(), Refuse: api.Refuse, Now: time.Now,
	}
	if host, _, err := net.SplitHostPort(c.Address); err == nil && host != "" {
		o.Hosts = append(slices.Clone(o.Hosts), host)
	}
	if name, err := os.Hostname(); err == nil && !c.IsLocal() {
		o.Hosts = append(slices.Clone(o.Hosts), name)
	}
	server := &http.Server{
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	var err error
	if c.TokensFile != "" {
		if o.Tokens, err = guard.ReadTokens(c.TokensFile); err != nil {
			return nil, fmt.Errorf("http.tokens_file: %w", err)
		}
	}
	if c.TLS.Enabled() {
		certificate, err := tls.LoadX509KeyPair(c.TLS.CertificateFile, c.TLS.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("http.tls: %w", err)
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	}
	server.Handler = guard.Before(next, o)
	return server, nil
}

// serve answers at a port until the server is closed.
func (w *web) serve(port net.Listener) error {
	if w.server.TLSConfig != nil {
		return w.server.ServeTLS(port, "", "")
	}
	return w.server.Serve(port)
}

// pagePolicy lets a page run the scripts and use the styles that stand in it, and ask this process;
// nothing else.
func pagePolicy(page []byte) string {
	policy := "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, what := range []string{"script", "style"} {
		_, rest, found := bytes.Cut(page, []byte("<"+what+">"))
		inside, _, ended := bytes.Cut(rest, []byte("</"+what+">"))
		if found && ended {
			hash := sha256.Sum256(inside)
			policy += "; " + what + "-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
		}
	}
	return policy
}
