package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"lethe/ingest"
)

// Write writes the records and waits until all in-sync replicas have them. Records that
// share a partition keep their order; those that share a key share a partition. After an
// error any subset of them may have been written: write all again.
//
// The error is ErrUnknownTopic, ErrTooLarge, ErrBrokerUnreachable or another failure,
// after retries for Config.WriteTimeout. A patient client retries without limit.
func (c *Client) Write(ctx context.Context, t Topic, records []ingest.Outgoing) error {
	if len(records) == 0 {
		return nil
	}
	byPartition, err := divide(ctx, c, t, records)
	if err != nil {
		return fmt.Errorf("write to %s: %w", t, err)
	}
	if c.watch == nil {
		bounded, cancel := context.WithTimeout(ctx, c.cfg.WriteTimeout)
		defer cancel()
		ctx = bounded
	}
	var group errgroup.Group
	for p, part := range byPartition {
		if len(part) > 0 {
			group.Go(func() error { return c.writePartition(ctx, TopicPartition{t, p}, part) })
		}
	}
	return group.Wait()
}

// divide assigns records to the partitions of a topic, and seals them.
func divide(
	ctx context.Context, c *Client, t Topic, records []ingest.Outgoing,
) (by [][]ingest.Outgoing, err error) {
	seal := c.seal.Load()
	err = until(ctx, c, string(t), func() error {
		count, err := c.partitionsOrLast(ctx, t)
		if err != nil {
			return err
		}
		by = make([][]ingest.Outgoing, count)
		for _, rec := range records {
			p, err := destination(rec, count)
			if err != nil {
				return err
			}
			if rec.Time.IsZero() {
				rec.Time = time.Now()
			}
			by[p] = append(by[p], seal.sealed(t, rec))
		}
		return nil
	})
	return by, err
}

func destination(rec ingest.Outgoing, count int) (int, error) {
	if !rec.Pinned {
		key := rec.Key
		if rec.HashKey != nil {
			key = rec.HashKey
		}
		return PartitionOf(key, count), nil
	}
	if rec.Partition < 0 || rec.Partition >= count {
		return 0, fmt.Errorf("%w: partition %d of %d", ErrUnknownTopic, rec.Partition, count)
	}
	return rec.Partition, nil
}

// writePartition writes the batches one after the other, so that their order is kept.
func (c *Client) writePartition(ctx context.Context, tp TopicPartition, records []ingest.Outgoing) error {
	for len(records) > 0 {
		n := c.cfg.batchLength(records)
		if err := c.writeBatch(ctx, tp, records[:n]); err != nil {
			return fmt.Errorf("write to %s: %w", tp, err)
		}
		records = records[n:]
	}
	return nil
}

// batchLength is the number of records that fit one request, at least one.
func (c *Config) batchLength(records []ingest.Outgoing) int {
	size := 0
	for i, rec := range records[:min(len(records), c.MaxBatchRecords)] {
		if size += requestBytes(rec); size > c.MaxBatchBytes {
			return max(i, 1)
		}
	}
	return min(len(records), c.MaxBatchRecords)
}

// requestBytes is an upper bound of a record's size in a request.
func requestBytes(rec ingest.Outgoing) int {
	const framingBytes = 32 // upper bound of the framing of a record or a header
	size := framingBytes + len(rec.Key) + len(rec.Value)
	for _, h := range rec.Headers {
		size += framingBytes + len(h.Key) + len(h.Value)
	}
	return size
}

// Takes reports whether a record is small enough for a topic. One that was received compressed may not be: lethe does
// not compress its records, except tombstones of large keys.
func Takes(t Topic, rec ingest.Outgoing) bool {
	const batchBytes = 61 // framing of the records of a batch
	return batchBytes+requestBytes(rec) <= largest(t)
}

func (c *Client) writeBatch(ctx context.Context, tp TopicPartition, records []ingest.Outgoing) error {
	if c.watch != nil {
		return writePatiently(ctx, c, tp, records)
	}
	missingUntil := time.Now().Add(2 * metadataAge)
	for attempt := 0; ; attempt++ {
		err := c.produce(ctx, tp, records)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, kafka.MessageSizeTooLarge):
			return ErrTooLarge
		case isMissing(err):
			if time.Now().After(missingUntil) {
				if cause := c.diagnose(ctx, tp, err); errors.Is(cause, ErrUnknownTopic) {
					return cause
				}
			}
		case !isTemporary(err):
			return denied(tp.String(), err)
		}
		if stopped := pause(ctx, attempt); stopped != nil {
			return diagnoseLate(ctx, c, tp, errors.Join(stopped, err))
		}
	}
}

// writePatiently retries without limit.
func writePatiently(ctx context.Context, c *Client, tp TopicPartition, records []ingest.Outgoing) error {
	return until(ctx, c, tp.String(), func() error {
		err := c.produce(ctx, tp, records)
		switch {
		case errors.Is(err, kafka.MessageSizeTooLarge) && requestBytes(records[0]) > largest(tp.Topic):
			return ErrTooLarge
		case refusedForASetting(err):
			return fmt.Errorf("%w: %v", errOtherSetting, err) //nolint:errorlint // Kafka's code marks it as permanent
		case isMissing(err): // the transport reports topics that it may not see as missing
			return c.diagnose(ctx, tp, err)
		}
		return err
	})
}

// refusedForASetting reports whether brokers would accept lethe's records with other settings, or
// with a correct clock.
func refusedForASetting(err error) bool {
	for _, code := range []kafka.Error{
		kafka.MessageSizeTooLarge, kafka.RecordListTooLarge, kafka.InvalidTimestamp, kafka.PolicyViolation,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// diagnoseLate diagnoses a failure after the context's deadline.
func diagnoseLate(ctx context.Context, c *Client, tp TopicPartition, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.cfg.DialTimeout)
	defer cancel()
	return c.diagnose(ctx, tp, err)
}

func (c *Client) produce(ctx context.Context, tp TopicPartition, records []ingest.Outgoing) error {
	batch := make([]kafka.Record, len(records))
	for i, rec := range records {
		batch[i] = kafka.Record{Time: rec.Time, Key: kafka.NewBytes(rec.Key), Value: kafka.NewBytes(rec.Value)}
		for _, h := range rec.Headers {
			batch[i].Headers = append(batch[i].Headers, kafka.Header{Key: h.Key, Value: h.Value})
		}
	}
	request := &kafka.ProduceRequest{
		Topic: c.Name(tp.Topic), Partition: tp.Partition,
		RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(batch...),
	}
	if records[0].Value == nil && !Takes(tp.Topic, records[0]) {
		request.Compression = kafka.Zstd // the record with that key was compressed, and only its tombstone deletes it
	}
	response, err := c.kafka.Produce(ctx, request)
	if err != nil {
		return err
	}
	return response.Error
}
