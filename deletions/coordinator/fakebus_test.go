package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// fakeBus keeps every record until it is compacted.
type fakeBus struct {
	d      *deployment
	topics map[bus.Topic][]ingest.Record
	ends   map[bus.Topic]int64
}

func (b fakeBus) append(topic bus.Topic, out ingest.Outgoing) {
	b.topics[topic] = append(b.topics[topic], ingest.Record{
		Topic: string(topic), Offset: b.ends[topic], Time: b.d.now, Key: out.Key, Value: out.Value, Headers: out.Headers,
	})
	b.ends[topic]++
}

func (b fakeBus) Write(_ context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	format, told := "write %s: %s", []string(nil)
	if topic == bus.Log {
		format = ""
	}
	for _, rec := range records {
		if string(rec.Key) == "!barrier" {
			format = "" // one goes before every conclusion
		}
		if strings.HasPrefix(string(rec.Key), "!ledger/") || topic == bus.Log || format == "" {
			continue
		}
		told = append(told, b.d.memo.tell(ingest.Record{
			Topic: string(topic), Key: rec.Key, Value: rec.Value, Headers: rec.Headers,
		}))
	}
	if len(told) == 0 {
		format = "" // copies of the ledger alone
	}
	return b.d.call(func() error {
		for _, rec := range records {
			if size := len(rec.Key) + len(rec.Value); size > ingest.DefaultLimits().MaxRecordBytes {
				return fmt.Errorf("%w: %d bytes", bus.ErrTooLarge, size)
			}
			if topic == bus.Erasures && rec.Value == nil {
				if err := b.mayDelete(string(rec.Key)); err != nil {
					return err
				}
			}
			b.append(topic, rec)
		}
		if topic == bus.Log {
			return b.followsCopies()
		}
		return nil
	}, format, topic, strings.Join(told, ", "))
}

// mayDelete fails if a request is deleted from erasures.v1 while a process that stands by may still read its targets.
func (b fakeBus) mayDelete(requestID string) error {
	e, err := deletions.NewLedger(b.d.kv, nil).Get(requestID)
	needed := []deletions.State{deletions.Rewriting, deletions.Retraining, deletions.Swapped}
	if err == nil && slices.Contains(needed, e.Stage()) {
		return fmt.Errorf("request %s is %s, and is deleted from erasures.v1", requestID, e.State)
	}
	return nil
}

// followsCopies fails if log.v1 tells of changes of a request that the copy of the ledger lacks: whoever makes the
// ledger from there would have another history than the log.
func (b fakeBus) followsCopies() error {
	copied, err := ledgercopy.Read(context.Background(), published{b})
	if err != nil {
		return err
	}
	log, err := translog.ReadPublished(context.Background(), published{b})
	if err != nil {
		return err
	}
	changes := make(map[lethe.Digest]int)
	for _, e := range copied.Entries {
		changes[e.Digest] = len(e.History)
	}
	for _, text := range log.Leaves {
		leaf, err := translog.Decode(text)
		if err != nil {
			return err
		}
		switch leaf := leaf.(type) {
		case translog.Request:
			changes[leaf.Digest]--
		case translog.Transition:
			changes[leaf.Request]--
		}
	}
	for request, left := range changes {
		if left < 0 {
			return fmt.Errorf("log.v1 has %d changes of request %s that its copy has not", -left, request)
		}
	}
	return nil
}

// published reads topics without being counted.
type published struct{ b fakeBus }

func (p published) ReadAll(_ context.Context, topic bus.Topic, fn func(ingest.Record) error) error {
	for _, rec := range p.b.topics[topic] {
		if err := fn(rec); err != nil {
			return err
		}
	}
	return nil
}

func (b fakeBus) Partitions(context.Context, bus.Topic) (int, error) { return 1, nil }

// tell says what a record is in a few words.
func (m *memo) tell(rec ingest.Record) string {
	if rec.Tombstone() {
		return "delete " + string(rec.Key)
	}
	if rec.Topic != string(bus.ErasureStatus) && rec.Topic != string(bus.Control) {
		return string(rec.Key)
	}
	if name, isHold := strings.CutPrefix(string(rec.Key), "!hold/"); isHold {
		return "hold " + name
	}
	if refused, is := wire.ParseRefused(rec); is {
		return fmt.Sprintf("refused: %s: %s", refused.Reason, refused.Detail)
	}
	n, err := m.notice(wire.NewNoticeReader(), rec)
	switch {
	case err != nil:
		return err.Error()
	case n.Command != nil:
		return fmt.Sprintf("command %s attempt %d of %s, %d timesteps",
			n.Command.Phase, n.Command.Attempt, n.Command.RequestID, len(n.Command.Steps))
	case n.Status == nil:
		return "a part of a command"
	default:
		out := fmt.Sprintf("%s is %s", rec.Key, n.Status.State)
		if n.Status.Failure != deletions.NoFailure {
			out += ", because " + string(n.Status.Failure)
		}
		if !n.Status.Repeats.IsZero() {
			out += ", repeats " + n.Status.Repeats.String()[:8]
		}
		return out
	}
}

func (b fakeBus) ReadAll(ctx context.Context, topic bus.Topic, fn func(ingest.Record) error) error {
	return b.ReadEvery(ctx, topic, func(rec ingest.Record) error {
		if rec.Uncommitted != "" {
			return nil
		}
		return fn(rec)
	}, nil)
}

func (b fakeBus) ReadEvery(_ context.Context, topic bus.Topic, fn func(ingest.Record) error, _ func(*bus.Gap)) error {
	return b.d.call(func() error {
		for _, rec := range b.topics[topic] {
			if err := fn(rec); err != nil {
				return err
			}
		}
		return nil
	}, "read %s", topic)
}

func (b fakeBus) ReadCopies(
	ctx context.Context, topic bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	return nil, b.ReadEvery(ctx, topic, func(rec ingest.Record) error { return fn(bus.OneCopy, rec) }, nil)
}

func (b fakeBus) ReadNew(
	_ context.Context, topic bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return b.d.call(func() error {
		for _, rec := range b.topics[topic] {
			if rec.Offset < positions[0] {
				continue
			}
			if err := fn(rec); err != nil {
				return err
			}
		}
		positions[0] = b.ends[topic]
		return nil
	}, "read the end of %s", topic)
}

func (b fakeBus) Holds(_ context.Context, at bus.TopicPartition, offset int64) (held bool, err error) {
	err = b.d.call(func() error {
		held = slices.ContainsFunc(b.topics[at.Topic], func(rec ingest.Record) bool { return rec.Offset == offset })
		return nil
	}, "ask for %s@%d", at, offset)
	return held, err
}

func (b fakeBus) RollMarkers(_ context.Context, topics ...bus.Topic) error {
	return b.d.call(func() error { return nil }, "roll %d topics", len(topics))
}

// compact leaves the newest record of each key, and none that is deleted. What
// stuck- begins stays, as in a log that is not cleaned.
func (b fakeBus) compact() error {
	for topic, log := range b.topics {
		if topic == bus.ErasureStatus || topic == bus.Control {
			continue
		}
		b.topics[topic] = slices.DeleteFunc(slices.Clone(log), func(rec ingest.Record) bool {
			newer := slices.ContainsFunc(log, func(other ingest.Record) bool {
				return other.Offset > rec.Offset && bytes.Equal(other.Key, rec.Key)
			})
			return (newer || rec.Tombstone()) && !bytes.HasPrefix(rec.Key, []byte("stuck-"))
		})
	}
	return nil
}
