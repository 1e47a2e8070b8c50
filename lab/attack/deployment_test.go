package attack

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/trainer"
)

func TestNothingWaitsForAServiceThatHasEnded(t *testing.T) {
	// No model can be trained on such features.
	s := smallStream(t, 2)
	for _, tx := range s.Steps[0].Transactions {
		for i := range tx.Features {
			tx.Features[i] = math.MaxFloat32
		}
	}
	_, err := expose(t.Context(), Defaults(s, smallConfig(t)), smallConfig(t), s, nil)
	require.ErrorIs(t, err, errEndedEarly)
	require.ErrorIs(t, err, trainer.ErrNotFinite)
}
