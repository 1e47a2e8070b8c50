package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"lethe/configs"
	"lethe/dataset"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
	"lethe/service"
)

// nameFeatures makes reasons show the names of the stream's features, unless the configuration names a
// file.
func nameFeatures(c *configs.Config, stream *dataset.Stream) error {
	if c.Scoring.FeatureNames != "" || len(stream.FeatureNames) == 0 {
		return nil
	}
	if err := service.MakeDataDir(c.DataDir); err != nil {
		return err
	}
	c.Scoring.FeatureNames = filepath.Join(c.DataDir, dataset.FeatureNamesFile)
	return atomicfile.WriteFrom(c.Scoring.FeatureNames, 0o600, func(w io.Writer) error {
		return dataset.WriteNames(w, stream)
	})
}

// serve runs the service on the demo's data until it is interrupted. The last line printed is the address of the
// console, once the console has the data.
func (c *demoCmd) serve(a *command.App, config configs.Config) error {
	avoidTakenPorts(a.Context, &config)
	if config.Log.Level == "info" {
		config.Log.Level = "warn"
	}
	s, err := service.New(a.Context, service.Defaults(config, a.Version, a.Logger(config.Log)))
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(a.Context) }()
	if over, err := awaitRead(a.Context, s, ended); over {
		return errors.Join(err, s.Close())
	}
	out := a.Stdout
	if c.JSON {
		out = a.Stderr
	}
	fmt.Fprintf(out, "broker: %s\n", s.Brokers()[0])
	fmt.Fprintf(out, "console, until Ctrl-C: %s\n", consoleURL(config, s))
	return errors.Join(<-ended, s.Close())
}

func consoleURL(config configs.Config, s *service.Service) string {
	scheme := "http"
	if config.HTTP.TLS.CertificateFile != "" {
		scheme = "https"
	}
	return scheme + "://" + s.HTTPAddress()
}

// awaitRead waits until the service has read all records. It reports whether the service ended first, and its error.
func awaitRead(ctx context.Context, s *service.Service, ended <-chan error) (over bool, err error) {
	const interval = 50 * time.Millisecond
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if now, err := s.Status(ctx); err == nil && now.LagRecords == 0 {
			return false, nil
		}
		select {
		case err := <-ended:
			return true, err
		case <-tick.C:
		}
	}
}

// anyPort is an address for which the system chooses a free port.
const anyPort = "127.0.0.1:0"

// avoidTakenPorts replaces the default addresses of lethe run if another program listens there.
func avoidTakenPorts(ctx context.Context, config *configs.Config) {
	usual := configs.Default()
	if config.HTTP.Address == usual.HTTP.Address && !isFree(ctx, usual.HTTP.Address) {
		config.HTTP.Address = anyPort
	}
	broker := net.JoinHostPort("127.0.0.1", strconv.Itoa(usual.Embedded.Port))
	if config.Embedded.Port == usual.Embedded.Port && !isFree(ctx, broker) {
		config.Embedded.Port = 0
	}
}

// isFree reports whether a process may listen on an address.
func isFree(ctx context.Context, address string) bool {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	return err == nil && l.Close() == nil
}
