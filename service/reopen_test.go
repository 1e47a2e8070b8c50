package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/service"
	"lethe/service/servicetest"
)

// late is a stream of which much comes too late: all of timestep 3, some
// transactions of timestep 2 with everything that names them, and some of timesteps 1
// and 4 whose payments and labels come in time.
func late(t *testing.T, stream *dataset.Stream) (first *dataset.Stream, held []lethe.TransactionID) {
	t.Helper()
	var without3 []lethe.TransactionID
	for _, tx := range servicetest.Step(stream, 3).Transactions {
		without3 = append(without3, tx.ID)
	}
	whole := servicetest.LabelledIllicit(stream, 2)[:2]
	first = servicetest.Without(stream, slices.Concat(without3, whole)...)
	alone := []lethe.TransactionID{
		servicetest.LabelledIllicit(stream, 1)[0], servicetest.LabelledIllicit(stream, 4)[0],
		servicetest.Step(stream, 4).Transactions[5].ID,
	}
	for i := range first.Steps {
		first.Steps[i].Transactions = slices.DeleteFunc(slices.Clone(first.Steps[i].Transactions),
			func(tx lethe.Transaction) bool { return slices.Contains(alone, tx.ID) })
	}
	return first, slices.Concat(without3, whole, alone)
}

// Late records reopen their timesteps, and in the end slices, models, ensemble and
// dead letters are those of a stream in order. Predictions that were sent stay; those
// of late transactions say so. An erasure meanwhile comes to the same.
func TestLateRecordsGiveWhatAStreamInOrderGives(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 60, 21)
	first, held := late(t, stream)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Ingest.ReopenWindow = 300 * time.Millisecond
	s := start(t, c)
	s.Replay(first)
	require.NotEmpty(t, deadLetters(s), "payments and labels lack their transactions")
	before := s.Newest(bus.Predictions)
	erased := servicetest.LabelledIllicit(stream, 5)[0]
	submit(s, request(t, "meanwhile", held[0], erased))

	_, err := service.Replay(t.Context(), s.Client(), stream, service.ReplayOptions{})
	require.NoError(t, err)
	require.Equal(t, deletions.Verified, s.Outcome("meanwhile"))
	m := newMirror(t, c, stream)
	m.gone[held[0]] = true
	m.settle(1, 2, 3, 4)
	// Whether timestep 5 was partitioned with what was erased is not a matter of late
	// records.
	m.settle(5)
	m.forget(lethe.ScopeStubs, erased)
	want := m.build()
	s.Await(func(st *service.Status) bool { return st.LagRecords == 0 && st.EnsembleHash == want.ensemble })
	requireEqual(s, want)
	require.Eventually(t, func() bool { return len(deadLetters(s)) == 0 }, 30*time.Second, 50*time.Millisecond,
		"all have what they lacked")
	require.Equal(t, stream.FeatureCount, s.Quiet().FeatureCount, "as the first timestep told")

	predictions := s.Newest(bus.Predictions)
	for key, value := range before {
		if key != string(erased) {
			require.Equal(t, value, predictions[key], "what was sent stays")
		}
	}
	require.NotContains(t, predictions, string(held[0]))
	number := 0
	for _, id := range held[1:] {
		value, found := predictions[string(id)]
		if !found {
			continue // of the first timestep, which nothing was trained before
		}
		p, err := scoring.DecodePrediction([]byte(value))
		require.NoError(t, err)
		require.True(t, p.Late)
		number++
	}
	require.Greater(t, number, len(servicetest.Step(stream, 3).Transactions)-2)
	s.Stop()
	stored(t, c, want)
}

// With ingest.late=dlq late records are refused and change nothing.
func TestLateRecordsAreDeadLettersByChoice(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 22)
	id := servicetest.LabelledIllicit(stream, 2)[0]
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Ingest.Late = "dlq"
	s := start(t, c)
	before := s.Replay(servicetest.Without(stream, id))
	s.ReplayAgain(stream)
	require.NotEmpty(t, deadLetters(s))
	require.Equal(t, before.EnsembleHash, s.Quiet().EnsembleHash)
	m := newMirror(t, c, servicetest.Without(stream, id))
	m.settle(1, 2, 3)
	requireEqual(s, m.build())
}
