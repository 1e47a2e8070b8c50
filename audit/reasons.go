package audit

import (
	"bytes"
	"context"
	"math"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/scoring/reasons"
)

// mayMiss bounds the difference between the sum of a component's reasons and its logit; it is the
// bound for networks, the widest. Beyond usualLogit it grows in proportion.
const mayMiss, usualLogit = 1e-3, 32

// checkReasons checks that the reasons of every component in every record add up.
func checkReasons(ctx context.Context, client *bus.Client, r *Report) error {
	return client.ReadAll(ctx, bus.Reasons, func(rec ingest.Record) error {
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
	})
}
