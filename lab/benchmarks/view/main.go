// Command view measures how long the API takes to answer over a view that holds much:
//
//	go run ./lab/benchmarks/view
//
// It runs a service that plays the role view alone, on an embedded broker in this process, publishes generated
// predictions, graphs, labels, slices, reasons, dead letters, requests for erasure and a transparency log, and waits
// until the view has them. Then it asks every list, page, filter and cursor over HTTP, one after the other, and
// prints by route how long the answers took, how large they were, and what the process had in memory before and
// after. What answers take includes connection and JSON; the embedded broker's share of memory is in it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"lethe/configs"
	"lethe/service"
)

type benchmark struct {
	Predictions int `default:"1000000" help:"Predictions."`
	Steps       int `default:"49" help:"Timesteps that they are of."`
	Letters     int `default:"100000" help:"Dead letters."`
	Erasures    int `default:"10000" help:"Requests for erasure."`
	Leaves      int `default:"100000" help:"Leaves of the transparency log."`
	Asked       int `default:"300" help:"How often each question is asked, with other parameters each time."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var b benchmark
	parser := kong.Parse(&b, kong.Name("view"), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Description("Measures how long the API takes over a view that holds much."))
	parser.FatalIfErrorf(parser.Run())
}

// Run measures.
func (b *benchmark) Run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "lethe-view-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := configs.Default()
	config.DataDir, config.Roles = dir, []string{configs.RoleView}
	config.HTTP.Address, config.HTTP.RequestsPerSecond, config.Embedded.Port = "127.0.0.1:0", 0, 0
	s, err := service.New(ctx, service.Defaults(config, "benchmark",
		slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err != nil {
		return err
	}
	until, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(until) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended, s.Close())
	}()
	secret, err := configs.KeysOf(config).Secret(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	f := &filler{benchmark: b, client: s.Client(), secret: secret}
	if err := f.fill(ctx); err != nil {
		return err
	}
	a := newAsker("http://" + s.HTTPAddress())
	if err := f.await(ctx, a); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "filled in %.0f s, the view has %d MB on disk\n", time.Since(began).Seconds(),
		sizeOf(filepath.Join(dir, configs.RoleView))>>20)
	return a.measure(ctx, b)
}

// sizeOf is how many bytes the files of a folder have.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // files come and go
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// residentMB is what the process has in memory.
func residentMB() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kB int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kB); n == 1 {
			return kB >> 10
		}
	}
	return 0
}
