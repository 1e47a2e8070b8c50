package attack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/pipeline/requests"
	"lethe/service"
)

// exposure is what an adversary sees of a deployment around one erasure.
type exposure struct {
	before, after *published
	// status is the final one of the request, seconds its time to get there.
	status  deletions.Status
	seconds float64
}

// deployment is a service on an embedded broker that runs until stop.
type deployment struct {
	*service.Service
	cancel context.CancelFunc
	ended  chan error
}

const (
	pollInterval = 50 * time.Millisecond
	// eraseTimeout bounds the wait for an erasure.
	eraseTimeout = 10 * time.Minute
)

// expose runs a deployment on a stream, has transactions erased through the
// topics, and reads what is published before and after.
func expose(ctx context.Context, o Options, c configs.Config, sent *dataset.Stream, r lethe.ErasureRequest) (_ *exposure, err error) {
	s, err := service.New(ctx, service.Options{Config: c, Version: o.Version, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(ctx)
	d := &deployment{Service: s, cancel: cancel, ended: make(chan error, 1)}
	go func() { d.ended <- s.Run(runCtx) }()
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.replay(ctx, o, sent); err != nil {
		return nil, err
	}
	out := &exposure{}
	_, last := sent.Range()
	if out.before, err = readPublished(ctx, s.Client(), c.Partition.Shards, last); err != nil {
		return nil, fmt.Errorf("before the erasure: %w", err)
	}
	if err := out.erase(ctx, o, d, r); err != nil {
		return nil, err
	}
	if out.after, err = readPublished(ctx, s.Client(), c.Partition.Shards, last); err != nil {
		return nil, fmt.Errorf("after the erasure: %w", err)
	}
	return out, nil
}

// stop ends the service and waits for it.
func (d *deployment) stop() error {
	d.cancel()
	return errors.Join(<-d.ended, d.Close())
}

// replay publishes the stream and waits until it is trained through.
func (d *deployment) replay(ctx context.Context, o Options, sent *dataset.Stream) error {
	if _, err := service.Replay(ctx, d.Client(), sent, service.ReplayOptions{}); err != nil {
		return err
	}
	_, last := sent.Range()
	for {
		s, err := d.Status(ctx)
		if err == nil && s.TrainedThrough == last && s.LagRecords == 0 {
			return nil
		}
		if err == nil {
			o.Progress("deployment: %d of %d timesteps settled", s.Timesteps.Settled, len(sent.Steps))
		}
		select {
		case err := <-d.ended:
			d.ended <- nil
			return errors.Join(err, errors.New("the service ended early"))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// erase submits the request and waits until it is verified.
func (e *exposure) erase(ctx context.Context, o Options, d *deployment, r lethe.ErasureRequest) error {
	started := time.Now()
	if err := requests.Submit(ctx, d.Client(), r, started); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	var err error
	e.status, err = requests.Wait(ctx, d.Client(), r.RequestID, func(s deletions.Status) {
		o.Progress("erasure at scope %s: %s", r.Scope, s.State)
	})
	if err != nil {
		return err
	}
	e.seconds = time.Since(started).Seconds()
	if e.status.State != deletions.Verified {
		return fmt.Errorf("erasure of %d transactions at scope %s: %s, want %s", len(r.Nodes), r.Scope, e.status.State, deletions.Verified)
	}
	return nil
}
