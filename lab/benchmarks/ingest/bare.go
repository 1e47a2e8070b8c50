package main

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/ingest/bus"
)

// readBare reads the topic with one Reader and does nothing with what it reads. Without end it begins again at the
// topic's end until it is interrupted.
func (b *benchmark) readBare(ctx context.Context) (m measured, err error) {
	const (
		minBytes = 1
		maxBytes = 10_000_000 // as kafka-go's examples have it
	)
	config := kafka.ReaderConfig{
		Brokers: b.Brokers, Topic: b.Prefix + string(bus.Transactions), MinBytes: minBytes, MaxBytes: maxBytes,
	}
	if b.Partitions > 1 {
		config.GroupID = b.Prefix + time.Now().Format(time.RFC3339Nano)
		config.StartOffset = kafka.FirstOffset
	}
	reader := kafka.NewReader(config)
	defer func() { err = errors.Join(err, reader.Close()) }()
	var began time.Time
	for n := 0; b.endless() || n < b.Transactions; n++ {
		if n > 0 && n%b.Transactions == 0 {
			if err := reader.SetOffset(kafka.FirstOffset); err != nil {
				return m, err
			}
		}
		message, err := reader.FetchMessage(ctx)
		if b.endless() && errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return m, err
		}
		if began.IsZero() {
			began = time.Now() // connecting and joining do not count
		}
		m.PayloadBytes += int64(len(message.Key) + len(message.Value))
	}
	m.Seconds = time.Since(began).Seconds()
	return m, nil
}
