package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// W126: an erasure takes 1,000 transactions of 4,096 features from a graph, or deletes it. None of its previous bytes
// stays on the topic.
func TestAnArtefactThatShrinksLeavesNothing(t *testing.T) {
	for name, after := range map[string]wire.Message{
		"replaced": {Revision: 2, Payload: []byte("small")}, "deleted": {Deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			topics := roletest.NewBus(nil)
			after.Key = wire.Key{Kind: wire.KindSnapshot, Timestep: 1}
			before := wire.Message{Key: after.Key, Revision: 1, Payload: make([]byte, 1000*4096*4+1<<20)}
			require.NoError(t, wire.Publish(t.Context(), topics, 1, before))
			require.NoError(t, wire.Publish(t.Context(), topics, 1, after))
			require.NoError(t, topics.Compact())
			require.NoError(t, topics.ReadAll(t.Context(), bus.Snapshots, func(rec ingest.Record) error {
				require.Less(t, len(rec.Value), 100)
				return nil
			}))
		})
	}
}
