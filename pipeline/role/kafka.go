package role

import (
	"context"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Kafka is the topics that a client is connected to.
type Kafka struct {
	*bus.Client
	// Gather is for how long records gather before they are read.
	Gather bus.Gathering
	// Missed, if not nil, is told of what is damaged and was not read by ReadAll and ReadEvery.
	Missed func(*bus.Gap)
}

// ReadAll reads a topic from its start to where it ends now, around what is damaged: that must not end a role, which
// would find it again at each start.
func (k Kafka) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return k.ReadAround(ctx, t, fn, k.around)
}

// ReadOn is ReadAll of a partition from a position on; it returns where the partition ends.
func (k Kafka) ReadOn(
	ctx context.Context, tp bus.TopicPartition, from int64, fn func(ingest.Record) error,
) (end int64, err error) {
	return bus.ReadFrom(ctx, k.Client, tp, from, fn, k.around)
}

// ReadEvery is ReadAll of every record that the log holds, whatever became of its transaction. around is told of what
// is damaged as well.
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
