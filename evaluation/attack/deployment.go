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

// exposure is what an adversary sees of a deployment: what was published before
// the first erasure, and after each.
type exposure struct {
	versions []*published
	erasures []Erasure
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
// topics, one request after the other, and reads what is published.
func expose(ctx context.Context, o Options, c configs.Config, sent *dataset.Stream, asked []lethe.ErasureRequest) (_ *exposure, err error) {
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
	_, last := sent.Range()
	before, err := readPublished(ctx, s.Client(), c.Partition.Shards, last)
	if err != nil {
		return nil, fmt.Errorf("before the erasures: %w", err)
	}
	out := &exposure{versions: []*published{before}}
	for i, r := range asked {
		erasure, err := d.erase(ctx, r, func(s deletions.Status) {
			o.Progress("scope %s: erasure %d of %d is %s", r.Scope, i+1, len(asked), s.State)
		})
		if err != nil {
			return nil, err
		}
		after, err := readPublished(ctx, s.Client(), c.Partition.Shards, last)
		if err != nil {
			return nil, fmt.Errorf("after erasure %d: %w", i+1, err)
		}
		out.versions, out.erasures = append(out.versions, after), append(out.erasures, erasure)
	}
	return out, nil
}

var errEndedEarly = errors.New("the service ended early")

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
			return errors.Join(err, errEndedEarly)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// erase submits a request and waits until it is verified.
func (d *deployment) erase(ctx context.Context, r lethe.ErasureRequest, progress func(deletions.Status)) (Erasure, error) {
	started := time.Now()
	if err := requests.Submit(ctx, d.Client(), r, started); err != nil {
		return Erasure{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	// A service that has ended verifies nothing.
	over := make(chan error, 1)
	go func() {
		select {
		case err := <-d.ended:
			d.ended <- nil
			over <- errors.Join(err, errEndedEarly)
			cancel()
		case <-ctx.Done():
			over <- nil
		}
	}()
	status, err := requests.Wait(ctx, d.Client(), r.RequestID, progress)
	cancel()
	if ended := <-over; ended != nil {
		return Erasure{}, ended
	}
	if err != nil {
		return Erasure{}, err
	}
	if status.State != deletions.Verified {
		return Erasure{}, fmt.Errorf("erasure of %d transactions at scope %s is %s, want %s", len(r.Nodes), r.Scope, status.State, deletions.Verified)
	}
	return Erasure{
		RequestID: r.RequestID, Scope: r.Scope, State: status.State, Nodes: status.Counts.Nodes,
		SlicesReplaced: status.Counts.Slices, ShardsRetrained: status.Counts.Shards, Seconds: time.Since(started).Seconds(),
	}, nil
}
