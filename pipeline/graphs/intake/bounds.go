package intake

import (
	"context"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// decideFeatures determines the number of features by the first valid transaction, unless it is known.
func (l *Decoded) decideFeatures(ctx context.Context, o Options) error {
	if o.Store.Marks().FeatureCount() > 0 {
		return nil
	}
	first := 0
	for i := 0; first == 0 && i < len(l.list); i++ {
		if tr, is := l.list[i].event.(ingest.Transaction); is {
			first = len(tr.Features)
		}
	}
	return o.Decisions.Features(ctx, first)
}

// isBounded reports whether the batch must reject records that begin too many timesteps: only when the other partitions
// are read to their ends. Before, timesteps may be open because a partition is behind the others, as after an outage.
func (tx *taken) isBounded(ctx context.Context) (bool, error) {
	var begins []lethe.Timestep
	for i := range tx.list {
		switch e := tx.list[i].event.(type) {
		case ingest.Transaction:
			begins = append(begins, e.Timestep)
		case ingest.Payment:
			begins = append(begins, e.Timestep)
		case ingest.Label:
			begins = append(begins, e.Timestep)
		default:
		}
	}
	if tx.OpenWith(begins...) <= tx.o.MostOpen {
		return false, nil
	}
	offsets := tx.o.Store.Offsets()
	ends, err := bus.EndsOf(ctx, tx.o.Ends, bus.Transactions, bus.Labels)
	if err != nil {
		return false, err
	}
	for tp, end := range ends {
		read := offsets[snapshot.TopicPartition{Topic: string(tp.Topic), Partition: tp.Partition}] >= end
		if !read && tp != tx.batch.Source {
			return false, nil
		}
	}
	return true, nil
}
