package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/retention"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/intake"
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
	store       *snapshot.Store
	ledger      *deletions.Ledger
	ledgerStore io.Closer
	intake      *intake.Intake
	lifecycle   *lifecycle
	coordinator *coordinator.Coordinator
	searches    Searches
	// questions, if not nil, are answered of what eraser sees.
	questions   *Questions
	eraser      *eraser
	commitments *commitments
	retention   retention.Retention
	// written, if not nil, is what is read of the topics that leaders of graphs write.
	written *written
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
	topics := []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures}
	if l.written != nil {
		topics = append(topics, leadersTopics()...)
	}
	return topics
}

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	if slices.Contains(leadersTopics(), source.Topic) {
		return l.written.from[source], nil
	}
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
func (l *logic) Prepare(batch bus.Batch) any { return l.intake.Prepare(batch) }

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
	if err := l.intake.Settle(); err != nil {
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
	if gap := in.Batch.Gap; gap != nil && in.Batch.Source.Topic != bus.Control &&
		!slices.Contains(leadersTopics(), in.Batch.Source.Topic) {
		if err := l.intake.Missed(ctx, gap); err != nil {
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
		return l.control(ctx, in.Notices)
	case bus.Transactions, bus.Labels:
		prepared, _ := in.Prepared.(*intake.Decoded)
		records := l.intake.Decode(in.Batch, prepared)
		if err := l.lifecycle.before(ctx, records.Events()); err != nil {
			return err
		}
		if err := l.intake.Take(ctx, in.Batch, records); err != nil {
			return err
		}
		l.noteTaken(in.Batch)
		return nil
	case bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log:
		return l.takeWritten(ctx, in.Batch)
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

// takeWritten takes what stands on a topic that the leader alone writes.
func (l *logic) takeWritten(ctx context.Context, batch bus.Batch) error {
	if batch.Source.Topic == bus.Log {
		return l.coordinator.LogAgain(ctx, batch.Records)
	}
	var statuses []string
	for _, rec := range batch.Records {
		if !l.written.leaders.Stale(batch.Source.Topic, rec) {
			continue
		}
		if key, revision, of := wire.PartOf(rec); of {
			l.written.late[key.Timestep] = max(l.written.late[key.Timestep], revision)
		} else {
			statuses = append(statuses, string(rec.Key))
		}
	}
	return l.coordinator.TellAgain(ctx, statuses)
}

// control takes what control.v1 says, and says again what who led before has written over there.
func (l *logic) control(ctx context.Context, notices []wire.Notice) error {
	if err := l.coordinator.TakeNotices(notices); err != nil {
		return err
	}
	var keys []string
	for _, n := range notices {
		if n.Overwritten != "" && l.written != nil {
			keys = append(keys, n.Overwritten)
		}
	}
	return l.coordinator.SayAgain(ctx, keys)
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
