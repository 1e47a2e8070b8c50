package graphs

import (
	"context"
	"fmt"
	"strconv"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// The number of features that the stream has told is said on erasure-status.v1 as a
// setting of the stream, so that a store of graphs that was lost is made again with the
// same one: the transactions that told it may be erased by then.

// streamSettings is what those settings are said under, in place of a role.
const streamSettings = "stream"

const featureCountKey = "ingest.feature_count"

// sayFeatureCount says the number of features.
func (l *lifecycle) sayFeatureCount(ctx context.Context) error {
	said := wire.Settings{
		Role: streamSettings, Values: map[string]string{featureCountKey: strconv.Itoa(l.store.FeatureCount())},
	}
	record, err := said.Record()
	if err != nil {
		return err
	}
	return l.letters.turns.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{record})
}

// saidFeatureCount returns the number of features that the topic tells, or 0.
func saidFeatureCount(ctx context.Context, topics Bus) (count int, err error) {
	err = topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		// Others say what else is wrong with the topic.
		said, found, _ := wire.ParseSettings(rec)
		if !found || said.Role != streamSettings {
			return nil
		}
		count, err = strconv.Atoi(said.Values[featureCountKey])
		if err != nil || count < 1 {
			return fmt.Errorf("%s/%d@%d: %s is %q, want a number of features", rec.Topic, rec.Partition, rec.Offset,
				featureCountKey, said.Values[featureCountKey])
		}
		return nil
	})
	return count, err
}
