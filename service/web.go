package service

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/openfiles"
	"lethe/metrics"
	"lethe/metrics/events"
	"lethe/service/api"
	"lethe/service/console"
	"lethe/service/guard"
	"lethe/service/guard/sso"
	"lethe/service/opendsr"
	"lethe/service/supervisor"
	"lethe/service/waiting"
)

const (
	shutdownTimeout = 3 * time.Second
	// statusTimeout bounds the query of brokers for a status.
	statusTimeout = 700 * time.Millisecond
)

// measure creates the metrics and the health checks.
func (s *Service) measure() {
	components := append([]string{brokerModule, diskComponent, topicsModule}, s.config.Plays()...)
	if s.config.KMS.Address != "" {
		components = append(components, keysModule)
	}
	s.health = metrics.NewHealth(components...)
	registry := metrics.NewRegistry()
	var reasons []string
	for _, r := range ingest.Reasons() {
		reasons = append(reasons, string(r))
	}
	var causes []string
	for _, c := range waiting.Causes() {
		causes = append(causes, string(c))
	}
	listener := metrics.New(registry, metrics.Options{
		Version: s.o.Version, Revision: metrics.Revision(debug.ReadBuildInfo()), Kernels: s.kernels.Name,
		TopicPrefix: s.config.Kafka.TopicPrefix,
		Topics:      []string{string(bus.Transactions), string(bus.Labels), string(bus.Erasures)},
		Followed:    []string{string(bus.Snapshots), string(bus.Slices), string(bus.Models)},
		Reasons:     reasons, Causes: causes,
		Now: time.Now,
	})
	s.outages = newOutages(s.health, listener, s.o.Logger)
	s.waits = newWaits(s.config, s.o.Now, listener, s.o.Logger)
	s.scrape = metrics.Handler(registry)
	s.listener = events.Tee(listener, s.outages.listener(), s.waits.listener(), s.plans.pace.Listener(),
		debugged(s.o.Logger), s.o.Listener)
}

// openHTTP binds the HTTP address and serves the console, the API, the metrics and the health
// checks there.
func (s *Service) openHTTP(context.Context) (supervisor.Process, error) {
	ending := make(chan struct{})
	server, err := s.server(ending)
	if err != nil {
		return nil, err
	}
	if s.port, err = openfiles.Listen(s.config.HTTP.Address, s.connections.HTTP); err != nil {
		return nil, fmt.Errorf("http.address %s cannot be used: %w "+
			"(is another lethe running? choose another with --http-address)",
			s.config.HTTP.Address, err)
	}
	served := &web{server: server, port: s.port, ended: make(chan error, 1)}
	// Event streams do not end by themselves.
	served.server.RegisterOnShutdown(sync.OnceFunc(func() { close(ending) }))
	go func() { served.ended <- served.serve(s.port) }()
	return served, nil
}

// server returns the server of all interfaces. Streams end when the channel is closed.
func (s *Service) server(ending <-chan struct{}) (*http.Server, error) {
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, s.scrape)
	mux.Handle("GET /livez", s.health.LiveHandler())
	mux.Handle("GET /readyz", s.health.ReadyHandler())
	layout, err := s.config.Layout()
	if err != nil {
		return nil, err
	}
	var signers func([]string) (signed, others []string)
	if s.config.Signatures.Requests > 0 {
		signers = s.authority.Signers
	}
	interfaces := api.New(api.Options{
		Signers: signers,
		View:    s.view.Load, Status: s.serveStatus, Plan: s.plans.serve, Layout: layout, Ending: ending,
		Keys: s.keys, Actions: changes{s}.actions(), Logger: s.o.Logger,
	})
	mux.Handle(api.Prefix+"/", interfaces.Handler())
	pages, err := console.New()
	if err != nil {
		return nil, err
	}
	mux.Handle("GET /{$}", pages)
	mux.Handle("GET "+console.Prefix, pages)
	if err := s.serveOpenDSR(mux); err != nil {
		return nil, err
	}
	access := s.config.HTTP
	if s.config.OpenDSR.Enabled() {
		access.Hosts = append(slices.Clone(access.Hosts), s.config.OpenDSR.Domain)
	}
	return serverOf(mux, access, s.o.Logger)
}

// serveStatus responds with the service's Status.
func (s *Service) serveStatus(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if !s.open.Load() {
		api.Refuse(w, http.StatusServiceUnavailable, "lethe is starting; see /readyz")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), statusTimeout)
	defer cancel()
	// An outage of brokers is visible in the lag, and in /readyz.
	status, _ := s.Status(ctx)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(status) //nolint:errcheck // the caller went away
}

const metricsPath = "/metrics"

// Limits of a client's time and memory.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 30 * time.Second
	writeTimeout   = planTimeout + readTimeout
	idleTimeout    = time.Minute
	maxHeaderBytes = 32 << 10
	// mostLargeBodies bounds the memory of plans and lists of ids: each has up to maxPlanBytes, and takes some 13
	// MB once parsed.
	mostLargeBodies = 8
)

// serverOf returns the server of a handler, with access control as configured.
func serverOf(next http.Handler, c configs.HTTP, log *slog.Logger) (*http.Server, error) {
	o := guard.Options{
		Hosts: c.Hosts, Open: []string{"/livez", "/readyz", opendsr.CertificatePath}, MaxBody: maxPlanBytes,
		Health: []string{"/livez", "/readyz"}, LargeBodies: mostLargeBodies,
		PerSecond: c.RequestsPerSecond, TLS: c.TLS.Enabled(), Now: time.Now, Public: console.IsPublic,
		Refuse: func(w http.ResponseWriter, status int, detail string) {
			if status == http.StatusUnauthorized {
				log.Debug("request without a valid token refused")
			}
			api.Refuse(w, status, detail)
		},
	}
	if !c.MetricsLogin {
		o.Open = append(o.Open, metricsPath)
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
	if c.OIDC.Enabled() {
		o.Verifier, err = sso.New(sso.Options{
			Issuer: c.OIDC.Issuer, Audience: c.OIDC.Audience, RolesClaim: c.OIDC.RolesClaim, Roles: c.OIDC.Roles,
			CAFile: c.OIDC.CAFile, Now: time.Now,
		})
		if err != nil {
			return nil, err
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

// serve serves a port until the server is closed.
func (w *web) serve(port net.Listener) error {
	if w.server.TLSConfig != nil {
		return w.server.ServeTLS(port, "", "")
	}
	return w.server.Serve(port)
}

// web is a server that runs from its creation.
type web struct {
	server *http.Server
	port   net.Listener
	ended  chan error
}

// Run implements supervisor.Process: it serves until the context ends.
func (w *web) Run(ctx context.Context) error {
	select {
	case err := <-w.ended:
		return err
	case <-ctx.Done():
	}
	// The context is over; give requests in progress a short time to finish.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := w.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Close implements supervisor.Process.
func (w *web) Close() error {
	err := w.server.Close()
	// The serving goroutine may not have started, and the server does not know the port then.
	if failed := w.port.Close(); !errors.Is(failed, net.ErrClosed) {
		err = errors.Join(err, failed)
	}
	return err
}

// boundConnections returns the connection limits of both ports, so that connections never use up the file
// descriptors that lethe needs, and sets that of the embedded broker.
func boundConnections(c *configs.Config) (bounds openfiles.Connections, err error) {
	use := openfiles.Use{Partitions: c.Kafka.Partitions, Embedded: c.UsesEmbeddedBroker()}
	bounds = use.Unlimited()
	if limit, limitErr := openfiles.Limit(); limitErr == nil {
		bounds, err = use.Within(limit)
	}
	if c.Embedded.Connections == 0 {
		c.Embedded.Connections = bounds.Broker
	}
	return bounds, err
}
