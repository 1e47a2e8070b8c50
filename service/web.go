package service

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"lethe/ingest/bus"
	"lethe/metrics"
	"lethe/metrics/events"
)

//go:embed status.html
var statusPage []byte

// web serves the status page, the API, the metrics and the health checks.
type web struct {
	listener net.Listener
	server   *http.Server
}

const shutdownTimeout = 3 * time.Second

// openWeb takes the HTTP address and returns the listener that feeds the
// metrics.
func (s *Service) openWeb() (events.Listener, error) {
	registry, err := metrics.NewRegistry()
	if err != nil {
		return events.Listener{}, err
	}
	set, err := KernelsOf(s.config)
	if err != nil {
		return events.Listener{}, err
	}
	m, err := metrics.New(registry, metrics.Options{
		Version: s.o.Version, Kernels: set.Name(), TopicPrefix: s.config.Kafka.TopicPrefix,
		Topics:   []string{string(bus.Transactions), string(bus.Labels), string(bus.Erasures)},
		Followed: []string{string(bus.Snapshots), string(bus.Slices), string(bus.Models)},
		Reasons:  reasons(),
	})
	if err != nil {
		return events.Listener{}, err
	}
	l, err := net.Listen("tcp", s.config.HTTP.Address)
	if err != nil {
		return events.Listener{}, fmt.Errorf("http.address %s cannot be used: %w (is another lethe running? choose another with --http-address)", s.config.HTTP.Address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Handler(registry))
	mux.Handle("/livez", s.health.LiveHandler())
	mux.Handle("/readyz", s.health.ReadyHandler())
	mux.HandleFunc("GET /api/v1/status", s.serveStatus)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(statusPage) //nolint:errcheck // the caller went away
	})
	s.web = &web{listener: l, server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}
	return events.Tee(m.Listener(), s.o.Listener), nil
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

func (w *web) address() string { return w.listener.Addr().String() }

// serve answers until the context ends.
func (w *web) serve(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- w.server.Serve(w.listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("http: %w", err)
	case <-ctx.Done():
	}
	// The context is over; give requests under way a moment of their own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := w.server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

func (w *web) close() error {
	if err := w.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
