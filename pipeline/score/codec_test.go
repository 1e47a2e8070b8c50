package score

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/score/published"
	"lethe/scoring"
)

func TestLinkRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := link{
			revision: lethe.Revision(rapid.Uint32().Draw(rt, "revision")),
			previous: lethe.Timestep(rapid.Int64Min(-1).Draw(rt, "previous")),
			done:     rapid.Bool().Draw(rt, "done"),
			late:     rapid.Bool().Draw(rt, "late"),
			owed:     rapid.SampledFrom([]owed{owesNothing, owesNew, owesAgain}).Draw(rt, "owed"),
		}
		back, err := decodeLink(l.encode())
		require.NoError(rt, err)
		require.Equal(rt, l, back)
	})
	_, err := decodeLink([]byte("1 x"))
	require.Error(t, err)
}

func TestExplainedDamage(t *testing.T) {
	e := explained{alerts: []alert{
		{node: lethe.Pseudonym{1}, owed: true, around: []lethe.Pseudonym{}},
		{node: lethe.Pseudonym{2}, around: []lethe.Pseudonym{{3}, {4}}},
	}}
	whole := e
	whole.unread = true
	back, err := decodeExplained(whole.encode())
	require.NoError(t, err)
	require.Equal(t, whole, back)
	message := e.encode()
	back, err = decodeExplained(message)
	require.NoError(t, err)
	require.Equal(t, e, back)
	for n := range message {
		_, err := decodeExplained(message[:n])
		require.ErrorIs(t, err, canonical.ErrCorrupt, "cut to %d bytes", n)
	}
}

// Of alerts that are all erased an empty list is stored: a file that is to be deleted stays if the
// process is killed before, and nobody deletes it any more.
func TestAlertsThatAreGoneAreOverwritten(t *testing.T) {
	store := roletest.NewStore()
	write := func(e explained) {
		require.NoError(t, store.Apply(func(w swapstore.Writer) error {
			e.write(w, 3)
			return nil
		}))
	}
	write(explained{}.with([]published.Score{{Node: lethe.Pseudonym{1}, Probability: 1}}))
	write(explained{changed: true})
	value, found, err := store.Get(timestepkey.New(explainedPrefix, 3))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, explained{}.encode(), value)
}

// The most probable alerts have reasons, the first of equal ones.
func TestAlertsWithReasonsAreBounded(t *testing.T) {
	var alerts []published.Score
	for i := range 2 * mostAlerts {
		alerts = append(alerts, published.Score{Node: lethe.Pseudonym{byte(i)}, Probability: float64(i / 2)})
	}
	e := explained{}.with(alerts)
	require.Equal(t, mostAlerts, e.owed())
	for i, a := range e.alerts {
		require.Equal(t, lethe.Pseudonym{byte(mostAlerts + i)}, a.node)
	}
	require.Equal(t, e.alerts, e.with(alerts[:3]).alerts)
}

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
