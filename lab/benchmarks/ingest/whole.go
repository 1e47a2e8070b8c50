package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/internal/processors"
	"lethe/metrics/events"
	"lethe/pipeline/requests"
	"lethe/service"
)

// whole is what a service tells while it takes transactions in.
type whole struct {
	mu sync.Mutex
	progress
	phases
	models int
	// half is closed when half of the transactions are taken, done when all are.
	half, done chan struct{}
	// states are when the request came into each.
	states map[deletions.State]time.Time
	// ended is closed when it is erased: verified takes a cleaner, which the broker of this benchmark has not.
	ended chan struct{}
}

// takeInWhole has a service with all roles take the topic in, train on it, and erase one transaction when half is
// there. How long intake paused is measured up to the last transaction.
func (b *benchmark) takeInWhole(ctx context.Context) (m measured, err error) {
	dir, err := os.MkdirTemp("", "lethe-ingest-service-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config, err := configs.Load(configs.LoadOptions{Overrides: map[string]any{
		"data_dir": dir, "http.address": "127.0.0.1:0", "kafka.brokers": b.Brokers, "kafka.topic_prefix": b.Prefix,
		"kafka.partitions": b.Partitions, "ingest.feature_count": b.Features, "scoring.provisional": false,
	}})
	if err != nil {
		return m, err
	}
	config.Trainer.Workers = config.Workers()
	// As lethe run does:
	command.CollectSeldom(ctx)
	processors.Spare()
	w := &whole{
		progress: progress{all: int64(b.Transactions), last: time.Now()}, half: make(chan struct{}),
		phases: phases{spans: make(map[string][]span)}, done: make(chan struct{}),
		states: make(map[deletions.State]time.Time), ended: make(chan struct{}),
	}
	o := service.Defaults(config, "benchmark", slog.New(slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn})))
	o.Listener = events.Tee(
		events.On(w.consumed), events.On(w.changed), events.On(w.trained), events.On(w.stepped),
	)
	running, err := service.New(ctx, o)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, running.Close()) }()
	stopProfile, err := b.profile()
	if err != nil {
		return m, err
	}
	defer stopProfile()
	until, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- running.Run(until) }()
	err = w.follow(ctx, running, stopped, b.timestepOf(b.Transactions/4), idOf(b.Transactions/4))
	m = w.told()
	m.PayloadBytes = b.PayloadBytes
	stop() // it tells of its work until it has ended
	return m, errors.Join(err, <-stopped)
}

// told is what was measured by now.
func (w *whole) told() measured {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.measured()
	m.Notes = []string{
		fmt.Sprintf("trained        %d models by then", w.models),
		"pauses while   " + w.longest(),
		fmt.Sprintf("erasure        %.1f s to swapped, %.1f s to erased",
			w.states[deletions.Swapped].Sub(w.states[deletions.Received]).Seconds(),
			w.states[deletions.Erased].Sub(w.states[deletions.Received]).Seconds()),
	}
	return m
}

// follow asks for the erasure when half is taken, and waits for the last transaction and the end of the erasure.
func (w *whole) follow(
	ctx context.Context, s *service.Service, stopped chan error, at lethe.Timestep, id lethe.TransactionID,
) error {
	for _, reached := range []chan struct{}{w.half, w.done, w.ended} {
		select {
		case err := <-stopped:
			stopped <- nil
			return errors.Join(errors.New("the service ended"), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-reached:
		}
		if reached != w.half {
			continue
		}
		request := lethe.ErasureRequest{RequestID: fmt.Sprintf("benchmark-%d", at), Targets: lethe.Transactions(id)}
		if _, err := requests.Submit(ctx, s.Client(), request, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

func (w *whole) consumed(e events.RecordsConsumed) {
	if e.Topic != string(bus.Transactions) || e.Result == events.Ignored { // as the tombstone of the erasure
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.taken
	if before >= w.all {
		return // nothing is left to pause with
	}
	if before > 0 {
		w.paused(w.last)
	}
	all := w.reached(w.taken + int64(e.Count))
	if before*2 < w.all && w.taken*2 >= w.all {
		close(w.half)
	}
	if all && before < w.all {
		close(w.done)
	}
}

func (w *whole) trained(e events.ShardTrained) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.models++
	w.did(trainingPhase, e.Duration)
}

func (w *whole) stepped(e events.SnapshotChanged) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.State {
	case lethe.Closed:
		w.did(closingPhase, e.Duration)
	case lethe.Settled:
		w.did(settlingPhase, e.Duration)
	default:
	}
}

func (w *whole) changed(e events.ErasureChanged) {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := deletions.State(e.State)
	w.states[state] = time.Now()
	if state == deletions.Erased {
		w.did(erasurePhase, time.Since(w.states[deletions.Received]))
		close(w.ended)
	}
}
