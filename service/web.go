package service

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics"
	"lethe/metrics/events"
	"lethe/service/supervisor"
)

//go:embed status.html
var statusPage []byte

const shutdownTimeout = 3 * time.Second

// measure makes the metrics and the health checks.
func (s *Service) measure() error {
	s.health = metrics.NewHealth(append([]string{brokerModule}, s.config.Plays()...)...)
	registry, err := metrics.NewRegistry()
	if err != nil {
		return err
	}
	var reasons []string
	for _, r := range ingest.Reasons() {
		reasons = append(reasons, string(r))
	}
	m, err := metrics.New(registry, metrics.Options{
		Version: s.o.Version, Kernels: s.kernels.Name, TopicPrefix: s.config.Kafka.TopicPrefix,
		Topics:   []string{string(bus.Transactions), string(bus.Labels), string(bus.Erasures)},
		Followed: []string{string(bus.Snapshots), string(bus.Slices), string(bus.Models)},
		Reasons:  reasons,
		Now:      time.Now,
	})
	if err != nil {
		return err
	}
	s.scrape, s.listener = metrics.Handler(registry), events.Tee(m.Listener(), s.o.Listener)
	return nil
}

// openHTTP makes the status page, the API, the metrics and the health checks.
func (s *Service) openHTTP(context.Context) (supervisor.Process, error) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", s.scrape)
	mux.Handle("/livez", s.health.LiveHandler())
	mux.Handle("/readyz", s.health.ReadyHandler())
	mux.HandleFunc("GET /api/v1/status", s.serveStatus)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(statusPage) //nolint:errcheck // the caller went away
	})
	return &web{listener: s.port, server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}, nil
}

// serveStatus answers with the service's Status.
func (s *Service) serveStatus(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	status, err := s.Status(r.Context())
	if err != nil {
		s.o.Logger.Warn("status", "error", err)
		http.Error(w, "the brokers cannot be asked", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(status) //nolint:errcheck // the caller went away
}

// web serves pages on a port that it does not own.
type web struct {
	listener net.Listener
	server   *http.Server
}

// Run implements supervisor.Process: it answers until the context ends.
func (w *web) Run(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- w.server.Serve(w.listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// The context is over; give requests under way a moment of their own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := w.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Close implements supervisor.Process; Run leaves nothing open.
func (w *web) Close() error { return nil }
