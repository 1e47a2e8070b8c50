package rekey

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
)

// place is a key in a partition.
type place struct {
	partition int
	key       string
}

// repairs returns the records that make the newest record of every key in a topic a genuine one: if a forged one is
// the newest, the last genuine one, or a tombstone. After the change of the secret the codes cannot be checked any
// more.
func repairs(ctx context.Context, client *bus.Client, topic bus.Topic) (out []ingest.Outgoing, err error) {
	forged := make(map[place]bool)
	if err := client.ReadAll(ctx, topic, func(rec ingest.Record) error {
		at := place{rec.Partition, string(rec.Key)}
		if delete(forged, at); rec.Unauthenticated != "" {
			forged[at] = true
		}
		return nil
	}); err != nil || len(forged) == 0 {
		return nil, err
	}
	genuine := make(map[place]ingest.Outgoing)
	for at := range forged {
		genuine[at] = ingest.Outgoing{Key: []byte(at.key), Pinned: true, Partition: at.partition}
	}
	err = client.ReadAll(ctx, topic, func(rec ingest.Record) error {
		at := place{rec.Partition, string(rec.Key)}
		if again, is := genuine[at]; is && rec.Unauthenticated == "" {
			again.Value, again.Headers = bytes.Clone(rec.Value), slices.Clone(rec.Headers)
			genuine[at] = again
		}
		return nil
	})
	for _, rec := range genuine {
		out = append(out, rec)
	}
	return out, err
}

// seal records in the new directory the offsets from which records carry codes under the new secret: earlier
// records of retained topics are accepted by their position, because they were checked.
func seal(ctx context.Context, client *bus.Client, p Plan, fresh lethe.Secret) error {
	before, err := bus.EndsOf(ctx, client, bus.Results()...)
	if err != nil {
		return fmt.Errorf("where topics end: %w", err)
	}
	return service.WriteSealed(p.New, wire.NewSealed(fresh, before))
}
