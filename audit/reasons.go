package audit

import (
	"bytes"
	"context"
	"errors"
	"math"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/scoring/reasons"
)

// mayMiss is what the reasons of a component may be away from its logit: of networks, for
// which the bound is the widest, and in proportion beyond the logits that are usual.
const mayMiss, usualLogit = 1e-3, 32

// checkReasons checks that what the components of every record say adds up.
func checkReasons(ctx context.Context, client *bus.Client, r *Report) error {
	return unlessUnknown(client.ReadAll(ctx, bus.Reasons, func(rec ingest.Record) error {
		if rec.Tombstone() || bytes.Equal(rec.Key, ingest.MarkerKey(rec.Partition)) {
			return nil
		}
		record, err := reasons.Decode(rec.Value)
		if err != nil {
			r.problem("%s/%d@%d: %v", bus.Reasons, rec.Partition, rec.Offset, err)
			return nil
		}
		for k, c := range record.Components {
			if math.Abs(c.Sum()-c.Logit) > mayMiss*max(1, math.Abs(c.Logit)/usualLogit) {
				r.problem("%s/%d@%d: the reasons of component %d do not add up to its logit",
					bus.Reasons, rec.Partition, rec.Offset, k)
			}
		}
		return nil
	}))
}

// unlessUnknown is the error of reading a topic, none if there is no such one: the
// directory is of a version without, and has not been opened since.
func unlessUnknown(err error) error {
	if errors.Is(err, bus.ErrUnknownTopic) {
		return nil
	}
	return err
}
