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

const (
	pollInterval = 50 * time.Millisecond
	// eraseTimeout bounds the wait for an erasure.
	eraseTimeout = 10 * time.Minute
)

var errEndedEarly = errors.New("the service ended early")

// expose runs a service on an embedded broker, uses it as an adversary and a
// compliance department do, and stops it. Use ends when the service does.
func expose(
	ctx context.Context, o Options, c configs.Config, sent *dataset.Stream, asked []lethe.ErasureRequest,
) (*exposure, error) {
	s, err := service.New(ctx, service.Defaults(c, o.Version, o.Logger))
	if err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	inUse, endUse := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer endUse()
		ended <- s.Run(serving)
	}()
	d := &deployment{Service: s, options: o, shards: c.Partition.Shards, sent: sent}
	out, err := d.use(inUse, asked)
	if inUse.Err() != nil && ctx.Err() == nil {
		err = errEndedEarly
	}
	stop()
	return out, errors.Join(err, <-ended, s.Close())
}

// deployment is a running service with what is sent to it.
type deployment struct {
	*service.Service
	options Options
	shards  int
	sent    *dataset.Stream
}

// use sends the stream, has transactions erased through the topics, one
// request after the other, and reads what is published.
func (d *deployment) use(ctx context.Context, asked []lethe.ErasureRequest) (*exposure, error) {
	_, last := d.sent.Range()
	if err := d.replay(ctx, last); err != nil {
		return nil, err
	}
	before, err := readPublished(ctx, d.Client(), d.shards, last)
	if err != nil {
		return nil, fmt.Errorf("before the erasures: %w", err)
	}
	out := &exposure{versions: []*published{before}}
	for i, r := range asked {
		erasure, err := d.erase(ctx, r, func(s deletions.Status) {
			d.options.Progress("scope %s: erasure %d of %d is %s", r.Scope, i+1, len(asked), s.State)
		})
		if err != nil {
			return nil, err
		}
		after, err := readPublished(ctx, d.Client(), d.shards, last)
		if err != nil {
			return nil, fmt.Errorf("after erasure %d: %w", i+1, err)
		}
		out.versions, out.erasures = append(out.versions, after), append(out.erasures, erasure)
	}
	return out, nil
}

// replay publishes the stream and waits until it is trained through.
func (d *deployment) replay(ctx context.Context, last lethe.Timestep) error {
	if _, err := service.Replay(ctx, d.Client(), d.sent, service.ReplayOptions{}); err != nil {
		return err
	}
	for {
		s, err := d.Status(ctx)
		if err == nil && s.TrainedThrough == last && s.LagRecords == 0 {
			return nil
		}
		if err == nil {
			d.options.Progress("deployment: %d of %d timesteps settled", s.Timesteps.Settled, len(d.sent.Steps))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// erase submits a request and waits until it is verified.
func (d *deployment) erase(
	ctx context.Context, r lethe.ErasureRequest, progress func(deletions.Status),
) (Erasure, error) {
	started := time.Now()
	submitted, err := requests.Submit(ctx, d.Client(), r, started)
	if err != nil {
		return Erasure{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	status, err := requests.Wait(ctx, d.Client(), submitted, progress)
	if err != nil {
		return Erasure{}, err
	}
	if status.State != deletions.Verified {
		return Erasure{}, fmt.Errorf("erasure of %d transactions at scope %s is %s, want %s", len(r.Targets), r.Scope,
			status.State, deletions.Verified)
	}
	return Erasure{
		RequestID: r.RequestID, Scope: r.Scope, State: status.State, Nodes: status.Counts.Targets,
		SlicesReplaced: status.Counts.Slices, ShardsRetrained: status.Counts.Shards, Seconds: time.Since(started).Seconds(),
	}, nil
}
