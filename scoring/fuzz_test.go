package scoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/scoring"
)

// What is read as a prediction can be written, and is read as the same again.
func FuzzDecodePrediction(f *testing.F) {
	seed, err := scoring.EncodePrediction(samplePrediction())
	require.NoError(f, err)
	f.Add(seed)
	f.Add([]byte(`{"id":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := scoring.DecodePrediction(data)
		if err != nil {
			require.ErrorIs(t, err, scoring.ErrPrediction)
			return
		}
		again, err := scoring.EncodePrediction(p)
		require.NoError(t, err)
		back, err := scoring.DecodePrediction(again)
		require.NoError(t, err)
		require.Equal(t, p, back)
	})
}
