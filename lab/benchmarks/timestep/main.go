// Command timestep measures how long the final predictions of a large timestep take, from its close to the last of
// them, where the timestep before it is trained on already:
//
//	go run ./lab/benchmarks/timestep
//
// It runs a service with all roles and the default ensemble on an embedded broker in this process, publishes generated
// timesteps with their labels, waits until they are trained on, publishes the next one, and so on. It prints seconds
// and, because other work may run on the machine, the processor seconds that the process used meanwhile: those of
// settling the timestep and of what training began are among them, for its labels come right behind.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/pprof"
	"time"

	"github.com/alecthomas/kong"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/internal/command"
	"lethe/internal/cputime"
	"lethe/metrics/events"
	"lethe/service"
)

type benchmark struct {
	Nodes      int               `default:"50000" help:"Transactions of a timestep."`
	Features   int               `default:"165" help:"Features of each."`
	Steps      int               `default:"5" help:"Timesteps; those from the third on are measured."`
	Set        map[string]string `placeholder:"KEY=VALUE" help:"Set a key of the configuration."`
	CPUProfile string            `name:"cpuprofile" type:"path" help:"File for a profile of the last timestep."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	command.CollectSeldom(ctx) // as lethe run does
	var b benchmark
	parser := kong.Parse(&b, kong.Name("timestep"), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Description("Measures how long the predictions of a large timestep take."))
	parser.FatalIfErrorf(parser.Run())
}

// moment is when something happened, and what the process had used of the processors by then.
type moment struct {
	at        time.Time
	processor time.Duration
}

func now() moment { return moment{time.Now(), cputime.Used()} }

// deployment is the service, and what it tells.
type deployment struct {
	service        *service.Service
	closed, scored chan moment
	ended          chan error
}

// Run measures.
func (b *benchmark) Run(ctx context.Context) (err error) {
	o := dataset.GenerateDefaults()
	o.Steps, o.NodesPerStep, o.Features = b.Steps, b.Nodes, b.Features
	stream, err := dataset.Generate(o)
	if err != nil {
		return err
	}
	config, remove, err := b.config()
	if err != nil {
		return err
	}
	defer remove()
	d := &deployment{closed: make(chan moment, b.Steps), scored: make(chan moment, b.Steps), ended: make(chan error, 1)}
	options := service.Defaults(config, "benchmark",
		slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	options.Listener = events.Tee(
		events.On(func(e events.SnapshotChanged) {
			if e.State == lethe.Closed {
				d.closed <- now()
			}
		}),
		events.On(func(events.SnapshotScored) { d.scored <- now() }),
	)
	if d.service, err = service.New(ctx, options); err != nil {
		return err
	}
	until, stop := context.WithCancel(ctx)
	go func() { d.ended <- d.service.Run(until) }()
	defer func() {
		stop()
		err = errors.Join(err, <-d.ended, d.service.Close())
	}()
	for i := range stream.Steps {
		if err := b.measure(ctx, d, stream, i); err != nil {
			return err
		}
	}
	return nil
}

// measure publishes a timestep and waits until it is trained on.
func (b *benchmark) measure(ctx context.Context, d *deployment, stream *dataset.Stream, i int) error {
	profiled := b.CPUProfile != "" && i == len(stream.Steps)-1
	if profiled {
		file, err := os.Create(b.CPUProfile)
		if err == nil {
			err = pprof.StartCPUProfile(file)
		}
		if err != nil {
			return err
		}
	}
	begun, step := now(), stream.Steps[i].Timestep
	part := &dataset.Stream{Steps: stream.Steps[i : i+1]}
	if _, err := service.Replay(ctx, d.service.Client(), part, service.ReplayOptions{}); err != nil {
		return err
	}
	end := <-d.closed
	last := end
	if i > 0 { // the first has no ensemble before it
		last = <-d.scored
	}
	if profiled {
		pprof.StopCPUProfile()
	}
	if err := d.trained(ctx, step); err != nil {
		return err
	}
	line := "not measured"
	if i > 1 {
		line = fmt.Sprintf("%.2f s from its close to its last prediction, %.2f processor seconds",
			last.at.Sub(end.at).Seconds(), (last.processor - end.processor).Seconds())
	}
	fmt.Printf("timestep %d: %s; taken in for %.2f s, trained on %.1f s after its close\n", step, line,
		end.at.Sub(begun.at).Seconds(), time.Since(end.at).Seconds())
	return nil
}

// trained waits until the service has learnt from a timestep.
func (d *deployment) trained(ctx context.Context, t lethe.Timestep) error {
	const look = 50 * time.Millisecond
	for {
		status, err := d.service.Status(ctx)
		if err == nil && status.TrainedThrough >= t {
			return nil
		}
		select {
		case err := <-d.ended:
			d.ended <- nil
			return errors.Join(errors.New("the service ended"), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
}

// config is the default one but for ports, folder, what is not measured and what is set.
func (b *benchmark) config() (config configs.Config, remove func(), err error) {
	dir, err := os.MkdirTemp("", "lethe-timestep-")
	if err != nil {
		return config, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	set := map[string]any{
		"data_dir": dir, "http.address": "127.0.0.1:0", "embedded.port": 0, "scoring.provisional": false,
	}
	for key, value := range b.Set {
		set[key] = value
	}
	config, err = configs.Load(configs.LoadOptions{Overrides: set})
	return config, remove, err
}
