package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/internal/cputime"
	"lethe/metrics/events"
	"lethe/pipeline/requests"
	"lethe/service"
)

// reached says that a request came into a state.
type reached struct {
	state     deletions.State
	at        time.Time
	processor time.Duration
}

// deployment is a service that runs in this process, and tells what becomes of
// requests.
type deployment struct {
	service *service.Service
	states  chan reached
	// unlearnt counts the models that were trained because of an erasure.
	unlearnt atomic.Int64
	receipts string
	cancel   func()
	ended    chan error
}

// statesBuffered is more than a round of requests goes through.
const statesBuffered = 1 << 14

func open(ctx context.Context, config configs.Config) (*deployment, error) {
	d := &deployment{
		states: make(chan reached, statesBuffered), ended: make(chan error, 1),
		receipts: service.ReceiptsDir(config.DataDir),
	}
	o := service.Defaults(config, "benchmark", slog.New(slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn})))
	o.Listener = events.Tee(
		events.On(func(e events.ErasureChanged) {
			d.states <- reached{deletions.State(e.State), time.Now(), cputime.Used()}
		}),
		events.On(func(e events.ShardTrained) {
			if e.Reason == events.Unlearn {
				d.unlearnt.Add(1)
			}
		}),
	)
	var err error
	if d.service, err = service.New(ctx, o); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	d.cancel = cancel
	go func() { d.ended <- d.service.Run(running) }()
	return d, nil
}

func (d *deployment) close() error {
	d.cancel()
	return errors.Join(<-d.ended, d.service.Close())
}

const (
	pollInterval = 100 * time.Millisecond
	receiptTries = 300
)

// feed publishes the stream and waits until it is trained through. A folder that was
// kept holds it already.
func (d *deployment) feed(ctx context.Context, stream *dataset.Stream, fed bool) error {
	if !fed {
		if _, err := service.Replay(ctx, d.service.Client(), stream, service.ReplayOptions{}); err != nil {
			return err
		}
	}
	_, last := stream.Range()
	for {
		now, err := d.service.Status(ctx)
		if err == nil && now.TrainedThrough == last && now.LagRecords == 0 {
			return nil
		}
		select {
		case err := <-d.ended:
			d.ended <- err
			return fmt.Errorf("the service ended early: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// round submits requests and waits until all of them are verified.
func (d *deployment) round(ctx context.Context, list []lethe.ErasureRequest, r row) (row, error) {
	for len(d.states) > 0 {
		<-d.states // of a request that an earlier run has left
	}
	trained := d.unlearnt.Load()
	began, processor := time.Now(), cputime.Used()
	submitted := make([]requests.Submitted, len(list))
	for i, request := range list {
		var err error
		if submitted[i], err = requests.Submit(ctx, d.service.Client(), request, began); err != nil {
			return r, err
		}
	}
	reachedBy := make(map[deletions.State]int)
	for reachedBy[deletions.Verified] < len(list) {
		select {
		case now := <-d.states:
			if now.state == deletions.Rejected || now.state == deletions.Failed {
				return r, fmt.Errorf("a request is %s", now.state)
			}
			if reachedBy[now.state]++; reachedBy[now.state] == len(list) {
				r.note(now, began, processor)
			}
		case err := <-d.ended:
			d.ended <- err
			return r, fmt.Errorf("the service ended early: %w", err)
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
	r.Models = int(d.unlearnt.Load() - trained)
	// The last state is published after it is reached; ended before, the service would
	// have to do that at its next start.
	for _, one := range submitted {
		if _, err := requests.Wait(ctx, d.service.Client(), one, nil); err != nil {
			return r, err
		}
	}
	var err error
	r.Shards, err = d.shards(list)
	return r, err
}

// shards counts the shards that the receipts of requests name as retrained.
func (d *deployment) shards(list []lethe.ErasureRequest) (int, error) {
	all := make(map[lethe.ShardID]bool)
	for _, request := range list {
		signed, err := d.receipt(request.RequestID)
		if err != nil {
			return 0, err
		}
		payload, err := receipt.Payload(signed)
		if err != nil {
			return 0, fmt.Errorf("receipt of %s: %w", request.RequestID, err)
		}
		var says struct {
			Shards []lethe.ShardID `json:"shards_retrained"`
		}
		if err := json.Unmarshal(payload, &says); err != nil {
			return 0, fmt.Errorf("receipt of %s: %w", request.RequestID, err)
		}
		for _, shard := range says.Shards {
			all[shard] = true
		}
	}
	return len(all), nil
}

// receipt reads the receipt of a request, which comes soon after it is verified.
func (d *deployment) receipt(requestID string) (signed []byte, err error) {
	for range receiptTries {
		signed, err = os.ReadFile(filepath.Join(d.receipts, requestID+".json"))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(pollInterval)
	}
	return signed, err
}

// trainAnew returns the processor time of training every checkpoint again from the
// slices in the data directory, which gives the same bytes.
func trainAnew(ctx context.Context, config configs.Config) (time.Duration, error) {
	report, err := audit.Check(ctx, audit.Options{Config: config, Fresh: true})
	if err != nil {
		return 0, err
	}
	if !report.OK {
		return 0, fmt.Errorf("the data directory is not in order: %s", report.Problems[0])
	}
	return time.Duration(report.FreshCPUSeconds * float64(time.Second)), nil
}
