package graphs

import (
	"fmt"

	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// notes keeps the coordinator's notes in the snapshot store, with the offsets.
type notes struct{ store Store }

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
