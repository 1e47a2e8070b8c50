package score

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring"
)

// Records are those of the predictions, in order, however many are made side by side.
func TestRecordsAreInTheOrderOfPredictions(t *testing.T) {
	secret, graph := lethe.Secret{3}, lethe.Digest{5}
	for _, count := range []int{0, 1, 5000} {
		o := optionsFor(topics())
		o.Workers = 3
		predictor, err := newPredictor(o)
		require.NoError(t, err)
		all := make([]scoring.Prediction, count)
		for i := range all {
			all[i] = scoring.Prediction{
				Transaction: lethe.TransactionID(fmt.Sprint("t", i)), Timestep: 2, Probability: float64(i%10) / 10,
				Threshold: 0.5, EnsembleVersion: lethe.Digest{1}, Final: true, Aggregation: scoring.MethodStack,
			}
		}
		records, err := predictor.recordsOf(t.Context(), all, secret, graph)
		require.NoError(t, err)
		require.Len(t, records, count)
		for i, rec := range records {
			require.Equal(t, fmt.Sprint("t", i), string(rec.Key))
			p, err := scoring.DecodePrediction(rec.Value)
			require.NoError(t, err)
			require.EqualValues(t, rec.Key, p.Transaction)
			require.Equal(t, scoring.Classify(p.Probability, p.Threshold), p.Class)
			require.Equal(t, scoring.PredictionID(secret, p, graph), p.ID)
		}
	}
	o := optionsFor(topics())
	predictor, err := newPredictor(o)
	require.NoError(t, err)
	_, err = predictor.recordsOf(t.Context(), make([]scoring.Prediction, 3000), secret, graph)
	require.ErrorIs(t, err, scoring.ErrPrediction)
}
