package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/ingest/bus/protocol"
)

// follow reads one partition until the context ends or it cannot go on.
func (t *Tail) follow(ctx context.Context, s *source, position int64) {
	trouble := time.Time{} // since when nothing has worked
	for attempt := 0; ; {
		next, err := t.step(ctx, s, position)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			position, attempt, trouble = next, 0, time.Time{}
			continue
		}
		if isFinal(err) || !isTemporary(err) && !isMissing(err) && !errors.Is(err, ErrBrokerUnreachable) {
			t.report(s, fmt.Errorf("follow %s from %d: %w", s.tp, position, err), true)
			return
		}
		now := time.Now()
		if trouble.IsZero() {
			trouble = now
		}
		if now.Sub(trouble) > t.client.cfg.DialTimeout {
			trouble = now
			if t.complain(ctx, s, position, err) {
				return
			}
		}
		if pause(ctx, attempt) != nil {
			return
		}
		attempt++
	}
}

// complain tells Next of a failure that has lasted.
func (t *Tail) complain(ctx context.Context, s *source, position int64, err error) (final bool) {
	cause := t.client.diagnose(ctx, s.tp, err)
	if ctx.Err() != nil {
		return true
	}
	cause = fmt.Errorf("follow %s from %d: %w", s.tp, position, cause)
	if final = isFinal(cause); !final {
		cause = fmt.Errorf("%w: %w", ErrInterrupted, cause)
	}
	t.report(s, cause, final)
	return final
}

// step fetches once, hands over what there is and returns the next position.
func (t *Tail) step(ctx context.Context, s *source, position int64) (int64, error) {
	if position == FromStart {
		start, _, err := t.client.logRange(ctx, s.tp)
		if err != nil {
			return 0, err
		}
		return start, nil
	}
	got, err := t.client.fetchOnce(ctx, s.tp, position)
	if errors.Is(err, kafka.OffsetOutOfRange) {
		return t.relocate(ctx, s, position)
	}
	if err != nil {
		return 0, err
	}
	if got.Next == position {
		return position, nil
	}
	return got.Next, t.deliver(ctx, s, split(s.tp, got, t.client.cfg.MaxBatchRecords))
}

// relocate decides what a position outside the log means. Where nothing
// expires, a log's start moves only over records that later ones replaced, and
// following goes on at the start.
func (t *Tail) relocate(ctx context.Context, s *source, position int64) (int64, error) {
	start, end, err := t.client.logRange(ctx, s.tp)
	switch {
	case err != nil:
		return 0, err
	case position > end:
		return 0, fmt.Errorf("%w: the log ends at %d", ErrPastEnd, end)
	case position >= start:
		return position, nil
	case specOf(s.tp.Topic, &t.client.cfg).expires:
		return 0, fmt.Errorf("%w: it starts at %d", ErrBelowStart, start)
	default:
		return start, nil
	}
}

// split cuts what was fetched into batches. Only the last one steps over what
// compaction took from the end.
func split(tp TopicPartition, got protocol.Fetched, most int) []Batch {
	var out []Batch
	records := got.Records
	for len(records) > most {
		out = append(out, Batch{tp, records[:most:most], records[most-1].Offset + 1, got.End})
		records = records[most:]
	}
	return append(out, Batch{tp, records, got.Next, got.End})
}
