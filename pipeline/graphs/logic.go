package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/retention"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/graphs/intake"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/graphs/timesteps"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// logic is the role as a step function over the store of graphs and the ledger. All work after an input is a
// coroutine; a step runs it up to the next message that must be published first. After a crash in between, the work
// begins again.
type logic struct {
	turns       *role.Turns
	store       *snapshot.Store
	ledger      *deletions.Ledger
	ledgerStore io.Closer
	// running is the work beside the loop.
	running     *beside.Running
	intake      *intake.Intake
	publisher   *publish.Publisher
	timesteps   *timesteps.Lifecycle
	coordinator *coordinator.Coordinator
	searches    Searches
	// questions may be nil.
	questions   *Questions
	eraser      *erase.Eraser
	commitments *commitments
	retention   retention.Retention
	overwritten *overwritten
	// due is the time for which the last wake-up was requested.
	now func() time.Time
	due time.Time
	// rebuild is nil once a lost store is rebuilt; requests wait for that.
	rebuild  rebuild
	requests []bus.Batch
	// resumed is set once everything that a crash left unpublished is published.
	resumed  bool
	status   *role.Status
	progress progress
}

var (
	_ role.Logic    = (*logic)(nil)
	_ role.Preparer = (*logic)(nil)
)

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic {
	return []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures}
}

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	at := snapshot.TopicPartition{Topic: string(source.Topic), Partition: source.Partition}
	if next, known := l.store.Offsets()[at]; known {
		return next, nil
	}
	return bus.FromStart, nil
}

// Close implements role.Logic. It waits for searches, which use the stores.
func (l *logic) Close() error {
	l.turns.Close()
	l.searches.Wait()
	l.running.Wait()
	return errors.Join(l.store.Close(), l.ledgerStore.Close())
}

// Prepare implements role.Preparer.
func (l *logic) Prepare(batch bus.Batch) any { return l.intake.Prepare(batch) }

// Step implements role.Logic.
func (l *logic) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	out, err := l.turns.Step(func() error { return l.work(ctx, in) })
	if out.Idle {
		l.status, out.Waits = l.currentStatus(), l.timesteps.Waits()
	}
	return out, err
}

// work processes an input and everything that is due. Changes that a crash left unpublished are published before.
func (l *logic) work(ctx context.Context, in role.Input) error {
	if !l.resumed {
		if err := l.resumeShared(ctx); err != nil {
			return err
		}
		if err := l.publisher.CommitMissing(); err != nil {
			return err
		}
		if err := l.coordinator.Resume(ctx); err != nil {
			return err
		}
		l.resumed = true
	}
	if err := l.eraser.Scrubbing.GoOn(); err != nil {
		return err
	}
	if err := l.take(ctx, in); err != nil {
		return err
	}
	if err := l.advance(ctx); err != nil {
		return err
	}
	if err := l.endRebuild(ctx); err != nil {
		return err
	}
	l.questions.respond(l.answers().answer)
	return nil
}

// take stores an input.
func (l *logic) take(ctx context.Context, in role.Input) error {
	for v, ended := l.searches.Verdict(); ended; v, ended = l.searches.Verdict() {
		if err := l.coordinator.Verification.Conclude(ctx, v); err != nil {
			return err
		}
	}
	if in.Ticked {
		if err := l.coordinator.Tick(ctx); err != nil {
			return err
		}
	}
	if gap := in.Batch.Gap; gap != nil && in.Batch.Source.Topic != bus.Control {
		if err := l.intake.Missed(ctx, gap); err != nil {
			return err
		}
	}
	switch topic := in.Batch.Source.Topic; topic {
	case "":
		return nil
	case bus.Erasures:
		l.requests = append(l.requests, in.Batch)
		return l.takeRequests(ctx)
	case bus.Control:
		if err := l.commitments.models(in.Batch); err != nil {
			return err
		}
		if err := l.commitments.accesses(ctx, in.Batch, l.turns); err != nil {
			return err
		}
		if err := l.coordinator.TakeNotices(in.Notices); err != nil {
			return err
		}
		return l.coordinator.PublishAgain(ctx, keysOf(in.Late))
	case bus.Transactions, bus.Labels:
		return l.takeRecords(ctx, in)
	case bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log:
		return l.overwritten.take(ctx, in, l.turns, l.coordinator)
	default:
		return fmt.Errorf("%s is not followed", in.Batch.Source)
	}
}

// takeRecords processes a batch of transactions or labels.
func (l *logic) takeRecords(ctx context.Context, in role.Input) error {
	prepared, _ := in.Prepared.(*intake.Decoded)
	records := l.intake.Decode(in.Batch, prepared)
	if err := l.timesteps.Before(ctx, records.Events()); err != nil {
		return err
	}
	if err := l.intake.Take(ctx, in.Batch, records); err != nil {
		return err
	}
	l.progress.read(in.Batch)
	l.timesteps.Begun()
	return nil
}

// resumeShared publishes the artefacts of the last entries again, and completes the previous leader's erasures.
func (l *logic) resumeShared(ctx context.Context) error {
	if !l.publisher.Decisions.IsShared() {
		return nil
	}
	entries, err := l.ledger.List()
	if err == nil {
		err = l.publisher.Resume()
	}
	if err != nil {
		return err
	}
	return l.eraser.Resume(ctx, entries)
}

func (l *logic) answers() answers { return answers{l.store, l.eraser, l.coordinator} }

func (l *logic) currentStatus() *role.Status {
	return l.progress.status(l.intake, l.timesteps, l.coordinator)
}

// advance does everything that is due.
func (l *logic) advance(ctx context.Context) error {
	if err := l.overwritten.republish(ctx, l.store, l.timesteps); err != nil {
		return err
	}
	if err := l.timesteps.Advance(ctx); err != nil {
		return err
	}
	if err := l.retention.Advance(ctx); err != nil {
		return err
	}
	changes, err := l.coordinator.Changes()
	if err != nil {
		return err
	}
	// An erasure is planned from complete timesteps.
	for changes && l.timesteps.IsBusy() {
		if err := l.timesteps.End(ctx); err != nil {
			return err
		}
		if err := l.timesteps.Advance(ctx); err != nil {
			return err
		}
	}
	if err := l.coordinator.Advance(ctx); err != nil {
		return err
	}
	if due := l.coordinator.Due(); !due.IsZero() && !due.Equal(l.due) {
		l.searches.Wake(due.Sub(l.now()))
		l.due = due
	}
	for search := l.coordinator.Verification.Next(); search != nil; search = l.coordinator.Verification.Next() {
		l.searches.Begin(ctx, search)
	}
	return nil
}

// Status implements role.Logic.
func (l *logic) Status() *role.Status { return l.status }
