package service

import (
	"context"
	"crypto"
	"fmt"
	"time"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
)

// ReplayOptions configures the publishing of a dataset.
type ReplayOptions struct {
	// RatePerSecond bounds the records written per second; 0 means no limit.
	RatePerSecond float64
	// Encoding is the format of transactions, payments and their close records.
	Encoding ingest.Encoding
	// Sign are the keys that sign close and settle records.
	Sign []crypto.Signer
	// Progress, if not nil, is called after each timestep.
	Progress func(ReplayProgress)
}

// ReplayProgress is the progress of a replay.
type ReplayProgress struct {
	Timestep       lethe.Timestep
	Done, Of       int
	RecordsWritten int
}

const replayBatchRecords = 2000

// Replay publishes the stream's records in order: per timestep its transactions
// and payments, a close record to every partition, its labels, and a settle
// record to every partition. Publishing a dataset twice is harmless.
func Replay(ctx context.Context, client *bus.Client, stream *dataset.Stream, o ReplayOptions) (int, error) {
	r := &replay{ReplayOptions: o, client: client, started: time.Now()}
	for i := range stream.Steps {
		if err := r.step(ctx, &stream.Steps[i]); err != nil {
			return r.written, fmt.Errorf("replay timestep %d: %w", stream.Steps[i].Timestep, err)
		}
		if o.Progress != nil {
			o.Progress(ReplayProgress{
				Timestep: stream.Steps[i].Timestep, Done: i + 1, Of: len(stream.Steps), RecordsWritten: r.written,
			})
		}
	}
	return r.written, nil
}

type replay struct {
	ReplayOptions
	client  *bus.Client
	started time.Time
	written int
}

func (r *replay) step(ctx context.Context, step *dataset.Step) error {
	records := make([]ingest.Outgoing, 0, len(step.Transactions)+len(step.Payments))
	add := func(key, value []byte, err error) error {
		records = append(records, ingest.Outgoing{Key: key, Value: value})
		return err
	}
	for i, t := range step.Transactions {
		if err := add(r.Encoding.Transaction(t)); err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	for i, p := range step.Payments {
		if err := add(r.Encoding.Payment(p)); err != nil {
			return fmt.Errorf("payment %d: %w", i, err)
		}
	}
	if err := r.write(ctx, bus.Transactions, records); err != nil {
		return err
	}
	if err := r.control(ctx, bus.Transactions, step.Timestep, r.Encoding.Close); err != nil {
		return err
	}
	records = nil
	for i, l := range step.Labels {
		if err := add(ingest.EncodeLabel(l)); err != nil {
			return fmt.Errorf("label %d: %w", i, err)
		}
	}
	if err := r.write(ctx, bus.Labels, records); err != nil {
		return err
	}
	return r.control(ctx, bus.Labels, step.Timestep, ingest.EncodeSettle)
}

// control writes a control record to every partition of a topic.
func (r *replay) control(
	ctx context.Context, topic bus.Topic, t lethe.Timestep, encode func(lethe.Timestep, int) (key, value []byte),
) error {
	n, err := r.client.Partitions(ctx, topic)
	if err != nil {
		return err
	}
	signer := authority.Signer{Keys: r.Sign, Topic: r.client.Name(topic), At: time.Now()}
	records := make([]ingest.Outgoing, n)
	for p := range records {
		key, value := encode(t, p)
		record := ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p}
		if records[p], err = signer.Sign(record); err != nil {
			return err
		}
	}
	return r.client.Write(ctx, topic, records)
}

// write writes records in batches, at most at the configured rate.
func (r *replay) write(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	size := replayBatchRecords
	if r.RatePerSecond > 0 {
		size = max(1, min(size, int(r.RatePerSecond/10)))
	}
	for len(records) > 0 {
		n := min(size, len(records))
		if err := r.client.Write(ctx, topic, records[:n]); err != nil {
			return err
		}
		records = records[n:]
		r.written += n
		if r.RatePerSecond <= 0 {
			continue
		}
		due := r.started.Add(time.Duration(float64(r.written) / r.RatePerSecond * float64(time.Second)))
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
