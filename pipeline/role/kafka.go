package role

import (
	"context"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Kafka implements Bus by a client.
type Kafka struct {
	*bus.Client
	// Gather is how long records are gathered into a batch.
	Gather bus.Gathering
	// Missed, if not nil, is called with damage that ReadAll and ReadEvery skip.
	Missed func(*bus.Gap)
}

// ReadAll reads a topic from its start to its present end and skips damage: a role would meet it again at each start.
func (k Kafka) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return k.ReadAround(ctx, t, fn, k.around)
}

// ReadOn is ReadAll of a partition from an offset on; it returns the end offset.
func (k Kafka) ReadOn(
	ctx context.Context, tp bus.TopicPartition, from int64, fn func(ingest.Record) error,
) (end int64, err error) {
	return bus.ReadFrom(ctx, k.Client, tp, from, fn, k.around)
}

// ReadEvery is ReadAll including records of aborted and open transactions. around is called with damage too.
func (k Kafka) ReadEvery(
	ctx context.Context, t bus.Topic, fn func(ingest.Record) error, around func(*bus.Gap),
) error {
	return k.ReadEveryAround(ctx, t, fn, func(gap *bus.Gap) {
		k.around(gap)
		around(gap)
	})
}

func (k Kafka) around(gap *bus.Gap) {
	if k.Missed != nil {
		k.Missed(gap)
	}
}

// Follow implements Bus.
func (k Kafka) Follow(positions map[bus.TopicPartition]int64) (Tail, error) {
	tail, err := k.TailGathering(positions, k.Gather)
	if err != nil {
		return nil, err
	}
	return tail, nil
}
