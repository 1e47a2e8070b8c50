package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

const roleName = "view"

// logic is the role as a step function.
type logic struct {
	o      Options
	store  *swapstore.Store
	hidden *hidden
	feed   *Feed
	// next are the read offsets, maybe ahead of the store.
	next    map[bus.TopicPartition]int64
	counts  map[lethe.Timestep]Counts
	quality measuring
	// unread means that models have leaves to read.
	models *models
	unread bool
	sweep  sweep
	// erasures are the open requests by id.
	erasures role.Erasures[own]
}

// newLogic reads the state from the store.
func newLogic(o Options, store *swapstore.Store) (*logic, error) {
	l := &logic{
		o: o, store: store, feed: newFeed(), next: make(map[bus.TopicPartition]int64),
		erasures: role.Erasures[own]{Role: roleName, Instance: o.Instance, Run: o.Run, Secret: o.Secret},
		sweep:    make(sweep),
		models:   new(models), unread: true,
	}
	var err error
	if l.hidden, err = readHidden(store, o.Secret); err != nil {
		return nil, err
	}
	if l.counts, err = readCounts(store); err != nil {
		return nil, err
	}
	l.quality, err = newMeasuring(store, l.feed, l.counts)
	return l, err
}

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic {
	return []bus.Topic{
		bus.Predictions, bus.Reasons, bus.Snapshots, bus.Slices, bus.DeadLetters, bus.Receipts, bus.Log, bus.ErasureStatus,
	}
}

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	if source.Topic == bus.ErasureStatus {
		l.next[source] = bus.FromStart // see takeStatuses
		return bus.FromStart, nil
	}
	next, err := offsetOf(l.store, source)
	l.next[source] = next
	return next, err
}

// Close implements role.Logic.
func (l *logic) Close() error { return l.store.Close() }

// Status implements role.Logic.
func (l *logic) Status() *role.Status { return new(role.Status) }

// Step implements role.Logic. Suppression comes first.
func (l *logic) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	if err := l.takeNotices(in.Notices); err != nil {
		return role.Output{}, err
	}
	if err := l.take(ctx, in); err != nil {
		return role.Output{}, err
	}
	if out, err := l.erasures.Acknowledge(ctx, l.acknowledge); err != nil || !out.Idle {
		return out, err
	}
	if batch := in.Batch; batch.Next < batch.End {
		return role.Output{Idle: true}, nil // more of the same is there
	}
	if l.unread {
		unlock, err := l.models.follow(l.store)
		unlock()
		if err != nil {
			return role.Output{}, fmt.Errorf("transparency log: %w", err)
		}
		l.unread = false
	}
	return role.Output{Idle: true}, l.quality.measure(in.Ticked)
}

// take stores an input and its position.
func (l *logic) take(ctx context.Context, in role.Input) (err error) {
	source := in.Batch.Source
	switch source.Topic {
	case bus.Predictions:
		err = l.takePredictions(in.Batch)
	case bus.Reasons:
		err = l.takeReasons(in.Batch)
	case bus.DeadLetters:
		err = l.takeLetters(in.Batch)
	case bus.Receipts:
		err = l.takeAsItIs(in.Batch, receiptPrefix, Erasures)
	case bus.Log:
		err = l.takeAsItIs(in.Batch, logPrefix, Log)
		l.unread = true
	case bus.Snapshots, bus.Slices:
		l.o.First.Give(ctx)
		err = l.takeMessages(ctx, source, in.Messages)
	case bus.ErasureStatus: // its notices are taken
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	l.next[source] = in.Batch.Next
	return nil
}

// takeMessages stores graphs, manifests and slices' numbers, or removes them.
func (l *logic) takeMessages(ctx context.Context, source bus.TopicPartition, messages []wire.Received) error {
	for _, m := range messages {
		if isGone(l, m) {
			continue
		}
		err := l.takeMessage(ctx, source, m)
		if errors.Is(err, wire.ErrPayload) {
			l.o.PassOver(roleName, source.Topic, m)
		} else if err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	return nil
}

func (l *logic) takeMessage(ctx context.Context, source bus.TopicPartition, m wire.Received) error {
	switch m.Key.Kind {
	case wire.KindSnapshot:
		return takeGraph(ctx, l, source, m)
	case wire.KindManifest:
		return takeManifest(l, source, m)
	case wire.KindSlice:
		return takeSlice(l, source, m)
	default:
		return m.PayloadOf(fmt.Errorf("%s does not carry messages of kind %q", source, m.Key.Kind), 0, 0)
	}
}

// newest are the last records of every key, in order of the keys' arrival, without control records.
func newest(records []ingest.Record) []ingest.Record {
	return slices.DeleteFunc(newestOfAll(records), isControl)
}

// newestOfAll includes control records, which may be refused ones.
func newestOfAll(records []ingest.Record) []ingest.Record {
	at := make(map[string]int, len(records))
	var out []ingest.Record
	for _, rec := range records {
		if i, known := at[string(rec.Key)]; known {
			out[i] = rec
			continue
		}
		at[string(rec.Key)] = len(out)
		out = append(out, rec)
	}
	return out
}

// passOver reports a record that cannot belong to its topic.
func (l *logic) passOver(topic bus.Topic, rec ingest.Record) {
	l.o.PassOver(roleName, topic, wire.Received{Partition: rec.Partition, Offset: rec.Offset})
}

// isControl reports whether a record is a marker.
func isControl(rec ingest.Record) bool { return bytes.HasPrefix(rec.Key, []byte("!")) }
