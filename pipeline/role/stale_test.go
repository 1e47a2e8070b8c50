package role

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Epoch 3 decided something; 4 was given up; this process began 5. What 3 wrote was not late, though 4 came between.
func TestFormer_EpochThatWasGivenUp_MakesNothingLate(t *testing.T) {
	tp := bus.TopicPartition{Topic: bus.Predictions}
	f := Former{
		of: bus.Predictions, From: map[bus.TopicPartition]int64{tp: 10}, before: 3, own: 5,
		ends: map[bus.TopicPartition]int64{tp: 20},
	}
	late := func(offset, epoch int64) bool {
		rec := wire.OwnedBy(wire.Owner{Generation: epoch, Instance: "a"}, []ingest.Outgoing{{Key: []byte("k")}})[0]
		return f.Late(ingest.Record{Topic: "lethe.predictions.v1", Offset: offset, Headers: rec.Headers})
	}
	require.False(t, late(9, 2), "before epoch 3 began")
	require.True(t, late(15, 2))
	require.False(t, late(15, 3))
	require.False(t, late(15, 4))
	require.True(t, late(25, 3), "after epoch 5 began")
	require.False(t, late(25, 5))

	first := (&Standing{journal: new(journal.Log)}).Former(journal.Entry{}, bus.Predictions)
	require.False(t, first.Late(ingest.Record{Offset: 1}))
}
