package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/retention"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// logic is the role as a step function over the store of graphs and the ledger.
//
// What is due after an input is one piece of work, of which every step does as
// much as there is to do between two things that are published: what is noted or
// done after a message relies on its being in its topic. It comes again after a
// crash in between.
type logic struct {
	turns       *role.Turns
	store       Store
	ledger      *deletions.Ledger
	ledgerStore io.Closer
	intake      *intake
	lifecycle   *lifecycle
	coordinator *coordinator.Coordinator
	searches    Searches
	// questions, if not nil, are answered of what eraser sees.
	questions   *Questions
	eraser      *eraser
	commitments *commitments
	retention   retention.Retention
	// standing is that of a process that shares the role, or nil.
	standing *role.Standing
	// late are the timesteps of which a fenced leader wrote something late, with its newest revision.
	late   map[lethe.Timestep]lethe.Revision
	logger *slog.Logger
	// now tells the time, due is when the role was last asked to be woken.
	now func() time.Time
	due time.Time
	// resumed is set once what a crash left unsaid has been said again.
	resumed bool
	status  *role.Status
	// newest is when the latest record of each source partition was written.
	newest map[bus.TopicPartition]time.Time
	// requestsRead is how far this process has read each partition of erasures.v1.
	requestsRead map[bus.TopicPartition]int64
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

// Close implements role.Logic. The search uses what is closed here.
func (l *logic) Close() error {
	l.turns.Close()
	l.searches.Wait()
	l.lifecycle.closings.working.Wait()
	l.eraser.scrubbing.working.Wait()
	if l.lifecycle.ahead != nil {
		l.lifecycle.ahead.working.Wait()
	}
	return errors.Join(l.store.Close(), l.ledgerStore.Close())
}

// Prepare implements role.Preparer.
func (l *logic) Prepare(batch bus.Batch) any { return l.intake.prepare(batch) }

// Step implements role.Logic.
func (l *logic) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	out, err := l.turns.Step(func() error { return l.work(ctx, in) })
	if out.Idle {
		l.status, out.Waits = l.know(), l.lifecycle.waits()
	}
	return out, err
}

// work does what is due. What was closed, settled, rewritten or decided before a
// crash may not have been published: it is before anything new is taken.
func (l *logic) work(ctx context.Context, in role.Input) error {
	if !l.resumed {
		if err := l.resumeShared(ctx); err != nil {
			return err
		}
		if err := l.commitments.missing(l.lifecycle.publisher); err != nil {
			return err
		}
		if err := l.coordinator.Resume(ctx); err != nil {
			return err
		}
		l.resumed = true
	}
	if err := l.intake.commits.settle(); err != nil {
		return err
	}
	if err := l.eraser.scrubbing.goOn(); err != nil {
		return err
	}
	if err := l.take(ctx, in); err != nil {
		return err
	}
	if err := l.advance(ctx); err != nil {
		return err
	}
	l.respond()
	return nil
}

// take puts what has arrived into the stores.
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
		if err := l.intake.missed(ctx, gap); err != nil {
			return err
		}
	}
	switch topic := in.Batch.Source.Topic; topic {
	case "":
		return nil
	case bus.Erasures:
		return l.takeRequests(ctx, in.Batch)
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
		if err := l.intake.take(ctx, in.Batch, in.Prepared); err != nil {
			return err
		}
		l.noteTaken(in.Batch)
		return nil
	case bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log:
		return l.takeOwn(ctx, in)
	default:
		return fmt.Errorf("%s is not followed", in.Batch.Source)
	}
}

// takeRequests takes a batch of erasures.v1, and keeps how far it has read.
func (l *logic) takeRequests(ctx context.Context, batch bus.Batch) error {
	err := l.coordinator.Requests.Take(ctx, batch)
	if err == nil {
		l.requestsRead[batch.Source] = batch.Next
	}
	return err
}

// noteTaken notes when the latest record of a source was written, and the timesteps that a batch began.
func (l *logic) noteTaken(batch bus.Batch) {
	if n := len(batch.Records); n > 0 {
		l.newest[batch.Source] = batch.Records[n-1].Time
	}
	l.lifecycle.noteBegun()
}

// takeOwn takes what stands on a topic that the leader alone writes.
func (l *logic) takeOwn(ctx context.Context, in role.Input) error {
	switch source := in.Batch.Source; source.Topic {
	case bus.Log:
		// What stands before the epoch was compared with the log.
		records := slices.DeleteFunc(slices.Clone(in.Batch.Records), func(rec ingest.Record) bool {
			return rec.Offset < l.standing.Ended(source)
		})
		return l.commitments.log.PublishAgain(ctx, l.turns, records)
	case bus.ErasureStatus:
		return l.coordinator.PublishAgain(ctx, keysOf(in.Late))
	default:
		for _, rec := range in.Late {
			if key, revision, of := wire.PartOf(rec); of {
				l.late[key.Timestep] = max(l.late[key.Timestep], revision)
			}
		}
		return nil
	}
}

func keysOf(records []ingest.Record) (keys []string) {
	for _, rec := range records {
		keys = append(keys, string(rec.Key))
	}
	return keys
}

// advance does everything that is due.
func (l *logic) advance(ctx context.Context) error {
	if err := l.publishAgain(ctx); err != nil {
		return err
	}
	if err := l.lifecycle.advance(ctx); err != nil {
		return err
	}
	if err := l.retention.Advance(ctx); err != nil {
		return err
	}
	changes, err := l.coordinator.Changes()
	if err != nil {
		return err
	}
	// What an erasure changes is planned from timesteps as they are, and none is half closed then.
	for changes && l.lifecycle.busy() {
		if err := l.lifecycle.end(ctx); err != nil {
			return err
		}
		if err := l.lifecycle.advance(ctx); err != nil {
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

// Status implements role.Logic: what was known when everything due was done.
func (l *logic) Status() *role.Status { return l.status }
