package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

const roleName = "view"

// logic is the role as a step function.
type logic struct {
	*state
	o           Options
	graphs      graphs
	assessments assessments
	erasing     *erasing
	// unread means that models have leaves to read.
	models *models
	unread bool
	sweep  sweep
}

// newLogic reads the state from the store.
func newLogic(o Options, store *swapstore.Store) (*logic, error) {
	s, err := readState(store, o.Secret)
	if err != nil {
		return nil, err
	}
	open := role.Erasures[own]{Role: roleName, Instance: o.Instance, Run: o.Run, Secret: o.Secret}
	l := &logic{
		state: s, o: o, graphs: graphs{s, o.First.Give}, erasing: &erasing{s, open, o},
		sweep: make(sweep), models: new(models), unread: true,
	}
	l.assessments = assessments{s, l.erasing, l.passOver}
	return l, nil
}

func topics() []bus.Topic {
	return []bus.Topic{
		bus.Predictions, bus.Reasons, bus.Snapshots, bus.Slices, bus.DeadLetters, bus.Receipts, bus.Log, bus.ErasureStatus,
	}
}

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic { return topics() }

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
	if err := l.erasing.Take(in.Notices, l.erasing.takeCommand); err != nil {
		return role.Output{}, err
	}
	if err := l.takeStatuses(in.Notices); err != nil {
		return role.Output{}, err
	}
	if err := l.take(ctx, in); err != nil {
		return role.Output{}, err
	}
	if out, err := l.erasing.Acknowledge(ctx, l.erasing.acknowledge); err != nil || !out.Idle {
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
		err = l.assessments.takePredictions(in.Batch)
	case bus.Reasons:
		err = l.assessments.takeReasons(in.Batch)
	case bus.DeadLetters:
		err = l.takeLetters(in.Batch)
	case bus.Receipts:
		err = l.takeAsItIs(in.Batch, receiptPrefix, Erasures)
	case bus.Log:
		err = l.takeAsItIs(in.Batch, logPrefix, Log)
		l.unread = true
	case bus.Snapshots, bus.Slices:
		l.graphs.giveWay(ctx)
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
		if l.erasing.isGone(m) {
			continue
		}
		err := l.graphs.take(ctx, source, m)
		if errors.Is(err, wire.ErrPayload) {
			l.o.PassOver(roleName, source.Topic, m)
		} else if err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	return nil
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
