package attack

import (
	"context"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// published is what the topics of a deployment hold at one moment.
type published struct {
	// models are those after the last timestep, by shard.
	models []*trainer.Checkpoint
	// slices holds every slice.
	slices []*lethe.Slice
}

// readPublished reads the newest models and slices as any consumer may.
func readPublished(ctx context.Context, client *bus.Client, shards int, last lethe.Timestep) (*published, error) {
	out := &published{models: make([]*trainer.Checkpoint, shards)}
	err := readNewest(ctx, client, bus.Models, func(key wire.Key, message []byte) error {
		if key.Timestep != last {
			return nil
		}
		if int(key.Shard) >= shards {
			return fmt.Errorf("model of shard %d, want below %d", key.Shard, shards)
		}
		m, err := trainer.DecodeCheckpoint(message)
		out.models[key.Shard] = m
		return err
	})
	if err != nil {
		return nil, err
	}
	for shard, m := range out.models {
		if m == nil {
			return nil, fmt.Errorf("no model of shard %d after timestep %d is published", shard, last)
		}
	}
	newest := make(map[wire.Key]*lethe.Slice)
	var order []wire.Key
	err = readNewest(ctx, client, bus.Slices, func(key wire.Key, message []byte) error {
		if newest[key] == nil {
			order = append(order, key)
		}
		s, err := canonical.DecodeSlice(message)
		newest[key] = s
		return err
	})
	for _, key := range order {
		out.slices = append(out.slices, newest[key])
	}
	return out, err
}

// readNewest calls take with every complete message of a topic, newer ones of a
// key after older ones.
func readNewest(ctx context.Context, client *bus.Client, topic bus.Topic, take func(wire.Key, []byte) error) error {
	assemblers := make(map[int]*bus.Assembler)
	return client.ReadAll(ctx, topic, func(rec ingest.Record) error {
		a := assemblers[rec.Partition]
		if a == nil {
			a = bus.NewAssembler()
			assemblers[rec.Partition] = a
		}
		p, complete, err := a.Add(rec)
		if err != nil || !complete || p.Retracted {
			return err
		}
		key, err := wire.ParseKey(p.Key)
		if err != nil {
			return err
		}
		return take(key, p.Bytes)
	})
}
