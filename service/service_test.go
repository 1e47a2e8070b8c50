package service_test

import (
	"testing"

	"lethe/service/servicetest"

	"github.com/stretchr/testify/require"
)

// The main job on a small stream: every timestep closes, settles, is trained on
// and, but for the first, is scored before its labels were learnt from.
func TestStreamIsScoredAndTrained(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 80, 3)
	s := start(t, servicetest.SmallStack(t, t.TempDir()))
	status := s.Replay(stream)
	totals := stream.Totals()
	require.Equal(t, 5, status.Timesteps.Settled)
	require.Equal(t, totals.Transactions, status.Transactions)
	require.Equal(t, totals.Transactions-len(stream.Steps[0].Transactions), status.Predictions)
	require.Len(t, status.EnsembleHash, 64)
	for _, step := range status.Steps[1:] {
		require.NotNil(t, step.Quality, "timestep %d", step.Timestep)
		require.Positive(t, step.Quality.Labelled)
	}
}
