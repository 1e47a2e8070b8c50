package graphs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// logic is the role as a step function over the snapshot store and the ledger.
//
// A step does all that is due. Unlike the other roles' steps it publishes by
// itself, through the bus it was opened with, because the coordinator has what it
// says in the topics before it goes on; its outputs are empty. What is published
// is noted after that, and comes again after a crash in between.
type logic struct {
	store       *snapshot.Store
	ledgerStore *swapstore.Store
	intake      *intake
	lifecycle   *lifecycle
	coordinator *coordinator.Coordinator
	// resumed is set once what a crash left unsaid has been said again.
	resumed bool
	// verdicts has the outcome of a search that ran beside the steps, and wake is
	// told when it is there. searching waits for the search.
	verdicts  chan coordinator.Verdict
	wake      chan struct{}
	searching sync.WaitGroup
}

var _ role.Logic = (*logic)(nil)

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic { return []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures} }

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	at := snapshot.TopicPartition{Topic: string(source.Topic), Partition: source.Partition}
	if next, known := l.store.Offsets()[at]; known {
		return next, nil
	}
	return bus.FromStart, nil
}

// Close implements role.Logic. The search uses what is closed here.
func (l *logic) Close() error {
	l.searching.Wait()
	return errors.Join(l.store.Close(), l.ledgerStore.Close())
}

// Step implements role.Logic. What was closed, settled, rewritten or decided
// before a crash may not have been published: it is before anything new is taken.
func (l *logic) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	if !l.resumed {
		if err := l.coordinator.Resume(ctx); err != nil {
			return role.Output{}, err
		}
		l.resumed = true
	}
	if err := l.take(ctx, in); err != nil {
		return role.Output{}, err
	}
	return role.Output{Idle: true}, l.advance(ctx)
}

// take puts what has arrived into the stores.
func (l *logic) take(ctx context.Context, in role.Input) error {
	select {
	case v := <-l.verdicts:
		if err := l.coordinator.Verification.Conclude(ctx, v); err != nil {
			return err
		}
	default:
	}
	if in.Ticked {
		if err := l.coordinator.Tick(ctx); err != nil {
			return err
		}
	}
	switch topic := in.Batch.Source.Topic; topic {
	case "":
		return nil
	case bus.Erasures:
		return l.coordinator.Requests.Take(ctx, in.Batch)
	case bus.ErasureStatus:
		l.coordinator.TakeNotices(in.Notices)
		return nil
	case bus.Transactions, bus.Labels:
		if err := l.intake.take(ctx, in.Batch); err != nil {
			return err
		}
		l.lifecycle.noteBegun()
		return nil
	default:
		return fmt.Errorf("%s is not followed", in.Batch.Source)
	}
}

// advance does everything that is due.
func (l *logic) advance(ctx context.Context) error {
	if err := l.lifecycle.advance(ctx); err != nil {
		return err
	}
	if err := l.coordinator.Advance(ctx); err != nil {
		return err
	}
	if search := l.coordinator.Verification.Next(); search != nil {
		l.searching.Go(func() {
			// There is one search at a time, and its verdict is taken before the next.
			l.verdicts <- search.Run(ctx)
			select {
			case l.wake <- struct{}{}:
			default:
			}
		})
	}
	return nil
}

// Status implements role.Logic: the timesteps, the requests by state and how far
// the source topics have been consumed.
func (l *logic) Status() *role.Status {
	s := &role.Status{
		Steps: make(map[lethe.Timestep]role.Step), Erasures: l.coordinator.Counts(),
		Consumed: make(map[bus.TopicPartition]int64),
	}
	for at, next := range l.store.Offsets() {
		s.Consumed[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	for _, info := range l.store.Timesteps() {
		s.Steps[info.Timestep] = role.Step{
			State: info.State, Nodes: info.Nodes, Payments: info.Payments, Labels: info.Labels,
		}
	}
	return s
}
