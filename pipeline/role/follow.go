package role

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Follower is a role: a logic that is fed from topics.
type Follower struct {
	name   string
	logic  Logic
	around Surroundings
	// readers assemble the messages of each topic of artefacts.
	readers map[bus.Topic]*wire.Reader
	notices *wire.NoticeReader
	// journal determines the valid entries, leaders the late records of fenced leaders.
	journal journal.Reader
	leaders *wire.Leaders
	// follows are the open partitions.
	follows []bus.TopicPartition
	// unannounced are the read offsets that were not passed to the Lead yet. waits means that work for records read is
	// still due.
	unannounced map[bus.TopicPartition]int64
	waits       bool
	preparing   preparing
	// partitions caches numbers of partitions.
	partitions map[bus.Topic]int
	status     atomic.Pointer[Status]
}

// Follow returns the role of a logic. Close closes the logic.
func Follow(name string, logic Logic, around Surroundings) *Follower {
	leaders := new(wire.Leaders)
	f := &Follower{
		name: name, logic: logic, around: around, leaders: leaders,
		readers: make(map[bus.Topic]*wire.Reader), notices: wire.NewNoticeReader().LedBy(leaders),
		partitions: make(map[bus.Topic]int),
	}
	f.status.Store(logic.Status())
	return f
}

// Name implements Role.
func (f *Follower) Name() string { return f.name }

// Status implements Role.
func (f *Follower) Status() *Status { return f.status.Load() }

// Close implements Role.
func (f *Follower) Close() error { return f.logic.Close() }

// Run implements Role. Work that a crash interrupted is completed before new input is read.
func (f *Follower) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return f.follow(running) })
	group.Go(func() error { return f.Beside(running) })
	// The outer context ends when the role is stopped.
	return wire.UnlessStopped(ctx, group.Wait())
}

// announceProcessed passes the read offsets to the Lead once all work for them is done.
func (f *Follower) announceProcessed() {
	if s := f.around.Standing; s != nil && !f.waits {
		s.Lead.setProcessed(f.unannounced)
		clear(f.unannounced)
	}
}

// Arrived feeds a batch, which may be empty, or a tick to the logic, as Run does.
func (f *Follower) Arrived(ctx context.Context, batch bus.Batch, ticked bool) error {
	return f.arrived(ctx, arrival{batch: batch, ticked: ticked})
}

func (f *Follower) arrived(ctx context.Context, a arrival) error {
	batch := a.batch
	in, err := f.read(batch)
	if err != nil {
		return err
	}
	in.Ticked, in.Prepared = a.ticked, a.prepared
	if batch.Gap != nil {
		f.missed(batch.Gap)
	}
	if err := f.Feed(ctx, in); err != nil {
		return err
	}
	if batch.Source.Topic != "" && f.around.Standing != nil {
		f.unannounced[batch.Source] = batch.Next
	}
	f.announceProcessed()
	if source := batch.Source; source.Topic != "" && source.Topic != bus.Control && source.Topic != bus.Journal &&
		!f.around.owns(source.Topic) {
		f.around.Listener(events.LagMeasured{
			Topic: string(source.Topic), Partition: source.Partition, Records: max(0, batch.End-batch.Next),
		})
	}
	return nil
}

// missed reports a gap in a partition.
func (f *Follower) missed(gap *bus.Gap) {
	f.around.Logger.Error("records were not read and never will be", "role", f.name, "topic", gap.Topic,
		"partition", gap.Partition, "from", gap.From, "to", gap.To, "reason", gap.Reason, "detail", gap.Detail)
	f.around.Listener(events.RecordsMissed{
		Topic: gap.Topic, Partition: gap.Partition, From: gap.From, To: gap.To, Reason: string(gap.Reason),
	})
}

// junk reports a record on one of lethe's own topics that lethe did not write.
func (f *Follower) junk(rec ingest.Record) { f.around.Junk(f.name, rec) }

// positions returns the offsets to resume from.
func (f *Follower) positions(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	out := map[bus.TopicPartition]int64{{Topic: bus.Control}: bus.FromStart, {Topic: bus.Journal}: bus.FromStart}
	for _, topic := range f.logic.Topics() {
		count, err := f.partitionsOf(ctx, topic)
		if err != nil {
			return nil, err
		}
		for p := range count {
			source := bus.TopicPartition{Topic: topic, Partition: p}
			if out[source], err = f.logic.Resume(source, count); err != nil {
				return nil, fmt.Errorf("position of %s: %w", source, err)
			}
		}
	}
	if s := f.around.Standing; s != nil && !s.StandsBy() && len(f.around.Own) > 0 {
		unread, err := s.Unprocessed(ctx, f.around.Bus, f.around.Own...)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, unread)
	}
	return out, nil
}

// partitionsOf returns the number of partitions of a topic.
func (f *Follower) partitionsOf(ctx context.Context, topic bus.Topic) (count int, err error) {
	if f.partitions[topic] == 0 {
		f.partitions[topic], err = f.around.Bus.Partitions(ctx, topic)
	}
	return f.partitions[topic], err
}

// read decodes a batch.
func (f *Follower) read(batch bus.Batch) (in Input, err error) {
	in.Batch = batch
	if f.around.owns(batch.Source.Topic) {
		in.Batch.Gap = nil // it cannot be published again
		for _, rec := range batch.Records {
			if f.leaders.Stale(batch.Source.Topic, rec) {
				in.Late = append(in.Late, rec)
			}
		}
		return in, nil
	}
	switch topic := batch.Source.Topic; topic {
	case bus.Journal:
		if batch.Source.Partition != journal.ForAll {
			in.Batch.Records = proven(in.Batch.Records, f.junk)
			return in, nil // for a Replayer
		}
		in.Batch = bus.Batch{} // replaced by its entries
		in.Entries, err = f.entriesOf(batch)
	case bus.Control, bus.ErasureStatus:
		for _, rec := range batch.Records {
			n, err := f.notices.Read(rec)
			n.Offset = rec.Offset
			switch {
			case err != nil:
				f.junk(rec)
			case n.Late:
				in.Late = append(in.Late, rec)
			case topic == bus.Control:
				in.Notices = append(in.Notices, n)
			default: // erasure-status.v1 has no commands
				in.Notices = append(in.Notices, wire.Notice{Status: n.Status})
			}
		}
	case bus.Snapshots, bus.Slices, bus.Models:
		if f.readers[topic] == nil {
			f.readers[topic] = wire.NewReader().LedBy(f.leaders).Skipping(f.junk)
		}
		in.Messages, err = f.readers[topic].Read(batch)
	default: // the logic decodes the records
		in.Batch.Records = proven(in.Batch.Records, f.junk)
	}
	return in, err
}

// proven drops the records that the deployment did not write. The mark of a dead letter may be from an operator
// without the secret: it is dropped too, but not reported.
func proven(records []ingest.Record, junk func(ingest.Record)) []ingest.Record {
	unproven := func(rec ingest.Record) bool { return rec.Unauthenticated != "" }
	if !slices.ContainsFunc(records, unproven) {
		return records
	}
	var out []ingest.Record
	for _, rec := range records {
		switch _, _, isMark := ingest.ReadMark(rec); {
		case !unproven(rec):
			out = append(out, rec)
		case !isMark:
			junk(rec)
		}
	}
	return out
}

// Feed feeds an input to the logic and steps until it is idle. The output of a step is published, then persisted,
// before the next step.
func (f *Follower) Feed(ctx context.Context, in Input) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := f.logic.Step(ctx, f.around.Clock, in)
		if err == nil {
			err = f.publish(ctx, out)
		}
		if err != nil {
			return err
		}
		f.status.Store(f.logic.Status())
		if out.Idle {
			f.waits = out.Waits
			return nil
		}
		in = Input{}
	}
}

// publish publishes the output of a step and calls its Note.
func (f *Follower) publish(ctx context.Context, out Output) error {
	if len(out.Messages) > 0 {
		topic := wire.TopicOf(out.Messages[0].Key.Kind)
		count, err := f.partitionsOf(ctx, topic)
		if err == nil {
			err = wire.Publish(ctx, f.around.Bus, count, out.Messages...)
		}
		if err != nil {
			return fmt.Errorf("publish %s: %w", out.Messages[0].Key, err)
		}
	}
	if len(out.Records) > 0 {
		if err := f.around.Bus.Write(ctx, out.Topic, out.Records); err != nil {
			return fmt.Errorf("publish to %s: %w", out.Topic, err)
		}
	}
	if out.Note == nil {
		return nil
	}
	return out.Note()
}
