package erase

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
)

// W127: a subject has transactions in thousands of timesteps. Each entry of its erasure is a record that the journal
// takes.
func TestEntriesOfALargeErasureFitTheJournal(t *testing.T) {
	const timesteps, shards = 5000, 64
	var replaced []coordinator.Replaced
	for at := range lethe.Timestep(timesteps) {
		r := coordinator.Replaced{Timestep: 1_000_000 + at, Revision: 1_000_000}
		for s := range lethe.ShardID(shards) {
			r.Shards = append(r.Shards, s)
		}
		replaced = append(replaced, r)
	}
	all := 0
	for _, part := range entriesOf(replaced, shards) {
		d := journal.Rewritten{Requests: make([]lethe.Digest, 1000)}
		for _, r := range part {
			d.Replaced = append(d.Replaced, journal.Replaced(r))
		}
		all += len(part)
		record, err := journal.Entry{Role: "graphs", Epoch: 1, Number: 1, Instance: "one", Decision: d}.Record()
		require.NoError(t, err)
		require.True(t, bus.Takes(bus.Journal, record), "%d bytes", len(record.Value))
	}
	require.Equal(t, timesteps, all)
	require.Len(t, entriesOf(nil, shards), 1)
}
