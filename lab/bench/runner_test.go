package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/protocol"
	"lethe/trainer"
)

// A row of a table must not be missing because the runner's list of models is
// shorter than the trainer's.
func TestEveryModelOfTheTrainerIsMeasured(t *testing.T) {
	for _, model := range trainer.StreamModels() {
		stream := &protocol.StreamSettings{Settings: protocol.Settings{Model: model}}
		require.NoError(t, modelExists(Cell{Dataset: BitcoinOTC, Stream: stream}))
	}
	require.ErrorIs(t, modelExists(Cell{Dataset: Cora, Graph: &protocol.Settings{Model: trainer.Blend}}), ErrAbsent)
}

// An interrupted run must not partition for every measurement that is left. The
// runner here could not: it has no clock, no data and no store.
func TestAnInterruptedRunBeginsNoMeasurement(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := &board{runner: &Runner{}}
	err := b.do(ctx, job{cell: Cell{Dataset: Cora, Graph: &protocol.Settings{}}}, 1)
	require.ErrorIs(t, err, context.Canceled)
}
