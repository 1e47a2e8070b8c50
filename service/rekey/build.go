package rekey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe/internal/sleep"
	"lethe/service"
)

const (
	pollEvery = 200 * time.Millisecond
	// tellEvery is the interval of progress messages.
	tellEvery = 5 * time.Second
	// patience is how long progress may stall before the result counts as different from the
	// original.
	patience = 5 * time.Minute
	// settled is how long nothing must change once everything is rebuilt.
	settled = time.Second
)

// build runs a service that is not reachable from outside, until its state matches the original.
func (r Rotate) build(ctx context.Context, p Plan) (now *service.Status, err error) {
	c := r.newConfig()
	c.HTTP.Address, c.Embedded.Port = "127.0.0.1:0", 0
	o := service.Defaults(c, r.Version, r.Logger)
	o.Restoring, o.Random = true, r.Random
	s, err := service.New(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	now, err = r.await(ctx, p, s, ended)
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return now, err
}

// await waits until the service has rebuilt as much as the original had, and stops changing.
func (r Rotate) await(ctx context.Context, p Plan, s *service.Service, ended chan error) (*service.Status, error) {
	var last service.Status
	changed, told := time.Now(), time.Time{}
	for {
		now, err := s.Status(ctx)
		if err == nil {
			if differ(last, *now) {
				changed = time.Now()
			}
			last = *now
			quiet := time.Since(changed)
			switch {
			case p.isMade(*now) && quiet > settled:
				return now, nil
			case quiet > patience:
				return nil, fmt.Errorf("%s stays other than %s: %d timesteps settled of %d, %d closed of %d, %d transactions "+
					"of %d, trained through %d of %d, %d records behind (nothing was put in its place; lethe verify on "+
					"the directory before says whether that is whole)", p.New, p.DataDir, now.Timesteps.Settled,
					p.Timesteps.Settled, now.Timesteps.Closed, p.Timesteps.Closed, now.Transactions, p.Transactions,
					now.TrainedThrough, p.Trained, now.LagRecords)
			case time.Since(told) > tellEvery:
				told = time.Now()
				r.Progress("%d of %d timesteps settled, trained through %d of %d", now.Timesteps.Settled, p.Timesteps.Settled,
					now.TrainedThrough, p.Trained)
			}
		}
		select {
		case err := <-ended:
			ended <- nil
			return nil, errors.Join(errors.New("the service ended"), err)
		default:
		}
		if err := sleep.For(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
}

// differ reports whether anything changed between two states.
func differ(a, b service.Status) bool {
	return a.Timesteps != b.Timesteps || a.Transactions != b.Transactions || a.Predictions != b.Predictions ||
		a.EnsembleHash != b.EnsembleHash || a.LagRecords != b.LagRecords || a.ReasonsPending != b.ReasonsPending
}

func (p Plan) isMade(now service.Status) bool {
	return now.LagRecords == 0 && now.ReasonsPending == 0 && now.Timesteps == p.Timesteps &&
		now.Transactions == p.Transactions &&
		now.TrainedThrough == p.Trained
}
