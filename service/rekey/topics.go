package rekey

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/service"
)

// cleanTopics removes records with pseudonyms, or with codes under the old secret, from the copied broker's log.
// Statuses, which the deployment has signed, and the journal are published again. Predictions and reasons contain no
// pseudonyms and stay.
func (r Rotate) cleanTopics(ctx context.Context, p Plan, fresh lethe.Secret) (err error) {
	own := r.Config.Embedded
	own.Port, own.DeleteTopics = 0, true
	broker, err := embedded.Start(service.BrokerDir(p.New), own, r.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.Close()) }()
	config := r.Config.Kafka
	at := broker.Config()
	config.Brokers, config.ErasureRetention = at.Brokers, at.ErasureRetention
	client, err := bus.Open(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()

	if err := client.Admin().Apply(ctx); err != nil {
		return err
	}
	valid, again, err := kept(ctx, client, p)
	if err != nil {
		return err
	}
	if err := client.Admin().Delete(ctx, bus.Internal()...); err != nil {
		return err
	}
	if err := client.Admin().Apply(ctx); err != nil {
		return err
	}
	wire.SealOf(fresh, nil).On(client)
	if err := wire.PublishRecords(ctx, client, valid); err != nil {
		return err
	}
	for topic, records := range again {
		if err := client.Write(ctx, topic, records); err != nil {
			return err
		}
	}
	if err := seal(ctx, client, p, fresh); err != nil {
		return err
	}
	// Removes the bytes of deleted records from the disk.
	return broker.Compact()
}

// kept are the records of erasure-status.v1 and control.v1 that remain valid in the new directory, and the repairs
// of the retained topics.
func kept(
	ctx context.Context, client *bus.Client, p Plan,
) (valid []ingest.Outgoing, again map[bus.Topic][]ingest.Outgoing, err error) {
	before, err := sealedBefore(p.DataDir)
	if err != nil {
		return nil, nil, err
	}
	wire.SealOf(p.secret, before).On(client)
	defer (*bus.Seal)(nil).On(client)
	again = make(map[bus.Topic][]ingest.Outgoing)
	for _, topic := range bus.Results() {
		if again[topic], err = repairs(ctx, client, topic); err != nil {
			return nil, nil, err
		}
	}
	err = client.ReadAll(ctx, bus.Journal, func(rec ingest.Record) error {
		if rec.Unauthenticated != "" {
			return nil
		}
		entry, err := journal.Decode(rec.Value)
		if err == nil && journal.IsKeptByRekeying(entry.Decision) {
			again[bus.Journal] = append(again[bus.Journal], ingest.Outgoing{
				Key: bytes.Clone(rec.Key), Value: bytes.Clone(rec.Value), Pinned: true, Partition: rec.Partition,
			})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	valid, err = validRecords(ctx, client)
	return valid, again, err
}

// validRecords are the records of erasure-status.v1 and control.v1 that remain valid in the new
// directory.
func validRecords(ctx context.Context, client *bus.Client) (out []ingest.Outgoing, err error) {
	newest := make(map[string]int)
	take := func(rec ingest.Record) error {
		// The next process adds accesses that are not in the log yet.
		if rec.Unauthenticated != "" || !wire.IsStatus(rec) && !wire.IsAccess(rec) {
			return nil
		}
		again := ingest.Outgoing{Key: bytes.Clone(rec.Key), Value: bytes.Clone(rec.Value), Headers: slices.Clone(rec.Headers)}
		if at, known := newest[string(rec.Key)]; known {
			out[at] = again
			return nil
		}
		newest[string(rec.Key)] = len(out)
		out = append(out, again)
		return nil
	}
	return out, errors.Join(client.ReadAll(ctx, bus.ErasureStatus, take), client.ReadAll(ctx, bus.Control, take))
}

func sealedBefore(dataDir string) (map[bus.TopicPartition]int64, error) {
	sealed, err := service.ReadSealed(dataDir)
	if err != nil {
		return nil, fmt.Errorf("%w (start lethe run once, which writes it)", err)
	}
	return sealed.Before()
}
