package graphs

import (
	"context"
	"fmt"

	"lethe/deletions/coordinator"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// topics is a bus whose writes are the output of a step.
type topics struct {
	*role.Turns
	reads Bus
}

var _ search.Bus = topics{}

// Partitions implements bus.Writer.
func (t topics) Partitions(ctx context.Context, topic bus.Topic) (int, error) {
	return t.reads.Partitions(ctx, topic)
}

// ReadNew implements search.Bus.
func (t topics) ReadNew(
	ctx context.Context, topic bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return t.reads.ReadNew(ctx, topic, positions, fn)
}

// RollMarkers implements search.Bus.
func (t topics) RollMarkers(ctx context.Context, list ...bus.Topic) error {
	return bus.RollMarkers(ctx, t, list...)
}

// notes keeps the coordinator's notes in the snapshot store, with the offsets.
type notes struct{ store *snapshot.Store }

var _ coordinator.Notes = notes{}

func concludedMark(requestID string) []byte { return []byte("concluded/" + requestID) }

// Commit implements coordinator.Notes.
func (n notes) Commit(source bus.TopicPartition, next int64) error {
	tx, err := n.store.Begin(snapshot.Source{
		Stream: snapshot.NoStream, Topic: string(source.Topic), Partition: source.Partition,
	})
	if err != nil {
		return err
	}
	return tx.Commit(next)
}

// Taken implements coordinator.Notes.
func (n notes) Taken() map[int]int64 {
	out := make(map[int]int64)
	for source, next := range n.store.Offsets() {
		if source.Topic == string(bus.Transactions) {
			out[source.Partition] = next
		}
	}
	return out
}

// Concluded implements coordinator.Notes.
func (n notes) Concluded(requestID string) (bool, error) {
	_, found, err := n.store.Marks().Get(concludedMark(requestID))
	if err != nil {
		return false, fmt.Errorf("request %s: %w", requestID, err)
	}
	return found, nil
}

// Conclude implements coordinator.Notes.
func (n notes) Conclude(requestIDs ...string) error {
	marks := make([][]byte, len(requestIDs))
	for i, id := range requestIDs {
		marks[i] = concludedMark(id)
	}
	return n.store.Marks().PutAll(marks, nil)
}
