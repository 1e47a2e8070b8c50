package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/evaluation/protocol"
)

// An interrupted run must not partition for every measurement that is left. The
// runner here could not: it has no clock, no data and no store.
func TestAnInterruptedRunBeginsNoMeasurement(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := &board{runner: &Runner{}}
	err := b.do(ctx, job{cell: Cell{Dataset: Cora, Graph: &protocol.Settings{}}}, 1)
	require.ErrorIs(t, err, context.Canceled)
}
