package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/trainer"
)

// provisional is a service whose models look at rows with one-hop features, so that a
// provisional score can be compared with the final one.
func provisional(t *testing.T) configs.Config {
	t.Helper()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Repair.OneHop, c.Repair.OneHopDirected, c.Scoring.Provisional = true, true, true
	c.Trainer.Model, c.Trainer.Schedule, c.Trainer.WindowTimesteps = trainer.Logistic, trainer.Window, 1000
	return c
}

// said are the newest predictions of transactions; nil where there is none.
func said(r *running, transactions []lethe.Transaction) []*scoring.Prediction {
	r.T.Helper()
	newest := r.Newest(bus.Predictions)
	out := make([]*scoring.Prediction, len(transactions))
	for i, tx := range transactions {
		if value := newest[string(tx.ID)]; value != "" {
			var err error
			out[i], err = scoring.DecodePrediction([]byte(value))
			require.NoError(r.T, err)
		}
	}
	return out
}

// saidAll waits until all of them have a prediction, and the last change of one is as
// wanted.
func saidAll(r *running, transactions []lethe.Transaction, want func(i int, p *scoring.Prediction) bool) (
	out []*scoring.Prediction,
) {
	r.T.Helper()
	require.Eventually(r.T, func() bool {
		out = said(r, transactions)
		for i, p := range out {
			if p == nil || want != nil && !want(i, p) {
				return false
			}
		}
		return true
	}, servicetest.WaitFor, servicetest.Tick)
	return out
}

// Transactions of an open timestep have provisional predictions, which change when
// payments join, also after a restart. What is erased has none, leaves none, and gets
// none again. The final ones take their place, and are those that a service without
// provisional ones publishes.
func TestTransactionsAreScoredWhenTheyArrive(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 31)
	c := provisional(t)
	before := servicetest.Part(t, stream, 1, 3)
	step := stream.Steps[3]
	gone, rest := step.Transactions[0], step.Transactions[1:]
	var payments []lethe.Payment
	for _, p := range step.Payments {
		if p.Source != gone.ID && p.Target != gone.ID {
			payments = append(payments, p)
		}
	}

	s := start(t, c)
	status := s.Replay(before)
	sendGraph(s, dataset.Step{Transactions: step.Transactions})
	alone := saidAll(s, step.Transactions, nil)
	for _, p := range alone {
		require.False(t, p.Final)
		require.Equal(t, lethe.Timestep(3), p.TrainedThrough)
	}
	now := s.Await(func(st *service.Status) bool { return st.Timesteps.Open == 1 && st.LagRecords == 0 })
	require.Equal(t, status.Predictions, now.Predictions, "provisional ones are not counted")

	forms := servicetest.FormsOf(t, c, stream, gone.ID)
	require.Equal(t, deletions.Verified, s.Erase("gdpr-open", lethe.ScopeStubs, gone.ID))
	require.Zero(t, countNaming(s, bus.Predictions, string(gone.ID)), "a prediction or its tombstone is left")
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
	s.Stop()

	// It comes again, with its payments, to a window that was made anew.
	s = start(t, c)
	sendGraph(s, dataset.Step{Transactions: step.Transactions[:1], Payments: step.Payments})
	joined := map[lethe.TransactionID]bool{}
	for _, p := range payments {
		joined[p.Source], joined[p.Target] = true, true
	}
	saidAll(s, rest, func(i int, p *scoring.Prediction) bool {
		changed := p.Probability != alone[i+1].Probability
		return changed == joined[p.Transaction] && (p.ID != alone[i+1].ID) == changed
	})
	var last []*scoring.Prediction
	require.Eventually(t, func() bool { // of several payments the last may still be on its way
		before := last
		last = said(s, rest)
		return samePredictions(before, last)
	}, servicetest.WaitFor, 10*servicetest.Tick)

	endTimestep(s, bus.Transactions, 4, ingest.EncodeClose)
	final := saidAll(s, rest, func(_ int, p *scoring.Prediction) bool { return p.Final })
	for i, p := range final {
		require.NotEqual(t, last[i].ID, p.ID)
		require.Equal(t, last[i].Probability, p.Probability)
	}
	require.Zero(t, countNaming(s, bus.Predictions, string(gone.ID)))
	s.Await(func(st *service.Status) bool { return st.Predictions == status.Predictions+len(rest) })
	time.Sleep(servicetest.Tick)
	require.True(t, samePredictions(final, said(s, rest)), "a provisional prediction came after the final one")

	c.Scoring.Provisional, c.DataDir = false, t.TempDir()
	without := start(t, c)
	without.Replay(before)
	sendGraph(without, dataset.Step{Transactions: rest, Payments: payments})
	without.Await(func(st *service.Status) bool { return st.Timesteps.Open == 1 && st.LagRecords == 0 })
	require.Empty(t, without.Newest(bus.Predictions)[string(rest[0].ID)])
	endTimestep(without, bus.Transactions, 4, ingest.EncodeClose)
	require.True(t, samePredictions(final, saidAll(without, rest, nil)))
}

func samePredictions(a, b []*scoring.Prediction) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if *a[i] != *b[i] {
			return false
		}
	}
	return true
}
