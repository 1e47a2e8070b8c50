package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/batch"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// core is the common part of the steps of all states.
type core struct {
	o       Options
	jobs    jobs
	acks    *acks.Acks
	out     *outbox
	records *withdrawal.Records
	// commanded are requests that this process commanded score to suppress.
	commanded map[string]bool
	// dirty means that a request may be able to continue.
	dirty bool
}

func newCore(o Options) *core {
	out := &outbox{Options: o, entered: make(entered)}
	return &core{
		o: o, jobs: jobs{notes: o.Notes, secret: o.Secret}, acks: acks.New(o.Instance), out: out,
		records: withdrawal.New(withdrawal.Options{
			Ledger: o.Ledger, Secret: o.Secret, Names: o.Limits.Normalise, Bus: o.Bus, Now: o.Clock.Now,
			HandOver: out.handOver,
		}),
		commanded: make(map[string]bool), dirty: true,
	}
}

func (c *core) now() time.Time { return c.o.Clock.Now() }

// scanner searches original records.
func (c *core) scanner(prints []scan.Fingerprint) (*scan.Scanner, error) {
	return scan.NewRecordScanner(c.o.Secret, c.o.Limits.Normalise, prints)
}

// move moves and announces a batch. update may be nil.
func (c *core) move(
	ctx context.Context, b batch.Batch, to deletions.State, update func(i int, e *deletions.Entry),
) (batch.Batch, error) {
	members, err := c.o.Ledger.TransitionAll(b.IDs(), to, update)
	if err != nil {
		return b, err
	}
	return batch.Batch{Leader: b.Leader, Members: members}, c.out.announce(ctx, members...)
}

// stop moves a batch to Failed or Rejected, and announces it.
func (c *core) stop(
	ctx context.Context, b batch.Batch, to deletions.State, why deletions.FailureCode,
) (batch.Batch, error) {
	members, err := c.o.Ledger.StopAll(b.IDs(), to, why)
	if err != nil {
		return b, err
	}
	return batch.Batch{Leader: b.Leader, Members: members}, c.out.announce(ctx, members...)
}

// update changes progress of a batch.
func (c *core) update(b batch.Batch, update func(i int, p *deletions.Progress)) (batch.Batch, error) {
	members, err := c.o.Ledger.UpdateAll(b.IDs(), update)
	if err != nil {
		return b, err
	}
	return batch.Batch{Leader: b.Leader, Members: members}, nil
}

// job is a request whose targets are still needed. Only memory and erasures.v1 have them.
type job struct {
	request     lethe.ErasureRequest
	requestedAt time.Time
	source      bus.TopicPartition
	// next is the offset to commit afterwards.
	next int64
}

func (j *job) targets() []lethe.Target { return lethe.Distinct(j.request.Targets) }

// record is the request's record for erasures.v1.
func (j *job) record(partition int) (ingest.Outgoing, error) {
	key, value, err := ingest.EncodeErasure(j.request, j.requestedAt)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("request %s: %w", j.request.RequestID, err)
	}
	return ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition}, nil
}

// jobs are in order of receipt.
type jobs struct {
	list   []job
	notes  Notes
	secret lethe.Secret
}

func (j *jobs) of(requestID string) *job {
	for i := range j.list {
		if j.list[i].request.RequestID == requestID {
			return &j.list[i]
		}
	}
	return nil
}

// put adds a job or replaces that of the same request.
func (j *jobs) put(one job) {
	if known := j.of(one.request.RequestID); known != nil {
		*known = one
		return
	}
	j.list = append(j.list, one)
}

// targets returns the targets of each request, or false until all were read.
func (j *jobs) targets(b batch.Batch) (out [][]lethe.Target, known bool) {
	for _, e := range b.Members {
		one := j.of(e.RequestID)
		if one == nil {
			return nil, false
		}
		out = append(out, e.Complete(j.secret, one.targets()))
	}
	return out, true
}

// done drops the jobs of a batch and commits once per partition, as each commit waits for the disk.
func (j *jobs) done(b batch.Batch) error {
	furthest := make(map[bus.TopicPartition]int64)
	for _, id := range b.IDs() {
		if one := j.of(id); one != nil {
			furthest[one.source] = max(furthest[one.source], one.next)
			j.drop(id)
		}
	}
	for source, next := range furthest {
		if err := j.commit(source, next); err != nil {
			return err
		}
	}
	return nil
}

func (j *jobs) drop(requestID string) {
	j.list = slices.DeleteFunc(j.list, func(one job) bool { return one.request.RequestID == requestID })
}

// commit stores the position in erasures.v1, but never behind a request whose targets are needed.
func (j *jobs) commit(source bus.TopicPartition, next int64) error {
	for _, one := range j.list {
		next = min(next, one.next-1)
	}
	return j.notes.Commit(source, next)
}

// naming returns, by request, the other open requests whose records in erasures.v1 name something of it.
func (c *core) naming(b batch.Batch) (map[string][]deletions.Entry, error) {
	open, err := c.o.Ledger.Open()
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(open, batch.IsPurged)
	if len(others) == 0 {
		return nil, nil
	}
	prints := b.Fingerprints()
	scanner, err := c.scanner(prints)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]deletions.Entry)
	for _, other := range others {
		named := make(map[scan.MAC]bool)
		j := c.jobs.of(other.RequestID)
		if j != nil {
			record, err := j.record(0)
			if err != nil {
				return nil, err
			}
			for _, h := range search.Hits(scanner, ingest.Record{Key: record.Key, Value: record.Value}) {
				named[prints[h.Fingerprint].MAC] = true
			}
		}
		for _, e := range b.Members {
			// A request not read yet is known by its hashes alone.
			meets := j == nil && (batch.Meet(e, other) || batch.MeetFeatures(e, other)) ||
				slices.ContainsFunc(e.Progress.Fingerprints, func(f scan.Fingerprint) bool { return named[f.MAC] })
			if meets && e.RequestID != other.RequestID {
				out[e.RequestID] = append(out[e.RequestID], other)
			}
		}
	}
	return out, nil
}
