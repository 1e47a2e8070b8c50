package graphs

import (
	"context"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// tidyRequests sees to it that erasures.v1 holds the requests of a batch whose
// ids are still needed, and no other: ids that nobody needs must not stay in a
// topic, least of all those of a request that came too late because they are
// erased already. A request under way that lost its record to another under the
// same key is written again, for a restart reads the ids there.
func (r *Role) tidyRequests(ctx context.Context, batch bus.Batch, refused map[int]bool) error {
	withdrawn := withdrawal{topic: bus.Erasures}
	restored := make(map[string]ingest.Outgoing)
	for i, rec := range batch.Records {
		j := r.jobFor(string(rec.Key))
		control := !refused[i] && len(rec.Key) > 0 && rec.Key[0] == '!'
		switch {
		case control, j == nil && rec.Tombstone():
		case j == nil:
			withdrawn.add(batch, i)
		case refused[i] || rec.Tombstone():
			record, err := requestRecord(j, batch.Source.Partition)
			if err != nil {
				return err
			}
			restored[string(rec.Key)] = record
		default:
			delete(restored, string(rec.Key))
		}
	}
	for _, record := range restored {
		if err := r.o.Client.Write(ctx, bus.Erasures, []ingest.Outgoing{record}); err != nil {
			return fmt.Errorf("write a request again: %w", err)
		}
	}
	return r.withdrawNow(ctx, withdrawn)
}

// requestRecord is the request of a job as it stands in erasures.v1.
func requestRecord(j *job, partition int) (ingest.Outgoing, error) {
	key, value, err := ingest.EncodeErasure(j.request, j.requestedAt)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("request %s: %w", j.request.RequestID, err)
	}
	return ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition}, nil
}
