package service_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// Ids that are words, which stand in everybody's records and in every folder, are erased
// like others; the request ends, and nothing of others goes, nor an end of a timestep.
func TestIDsThatAreWords(t *testing.T) {
	t.Parallel()
	words := []lethe.TransactionID{
		"illicit", "1", "close", "label", "transaction", "settle", "verified", "stubs", "features", "type", "17", "unknown",
		"marker", "leveldb", "Options", "predictions.v1",
		// Of lethe's own texts: kernel sets, roles, fields and sentences of receipts.
		"fma", "amd64", "view", "kernel_set", "artefacts", "snapshot_rows", "hashes", "neighbours", "stood", "payload",
	}
	stream := servicetest.SmallStream(t, 5, 40, 33)
	four := servicetest.Step(stream, 4)
	for i, id := range words {
		features := slices.Clone(four.Transactions[i].Features)
		features[0] += 5
		four.Transactions = append(four.Transactions, lethe.Transaction{ID: id, Timestep: 4, Features: features})
		four.Labels = append(four.Labels, lethe.LabelRecord{ID: id, Timestep: 4, Label: lethe.Illicit})
		four.Payments = append(four.Payments, lethe.Payment{Source: id, Target: four.Transactions[i].ID, Timestep: 4})
	}
	c := servicetest.SmallConfig(t, t.TempDir())
	s := lifecycle(t, c, stream)
	// Dead letters of others, which hold the words where they name nobody.
	for _, value := range []string{
		`{"type":"transaction","id":"other-1","timestep":5,"features":["1","17"]}`,
		`{"type":"settle","id":"other-2","label":"illicit"}`,
	} {
		s.send(bus.Transactions, []byte("other"+value[9:10]), []byte(value), nil)
	}
	s.Quiet()
	letters := func() (n int) {
		require.NoError(t, s.Client().ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
			if len(rec.Value) > 0 && rec.Key[0] != '!' {
				n++
			}
			return nil
		}))
		return n
	}
	before := letters()
	require.Positive(t, before)
	require.Equal(t, deletions.Verified, s.Erase("words", lethe.ScopeStubs, words...))
	for _, outcome := range s.outcomes("words") {
		require.Equal(t, deletions.OutcomeErased, outcome)
	}
	require.Equal(t, before, letters())
	s.finish(stream)
	status := s.Quiet()
	require.Equal(t, service.TimestepCounts{Settled: 5}, status.Timesteps)
	require.Equal(t, 5*40, status.Transactions)
	s.Stop()

	// The ends of timesteps are still in the topics: all is made again of them.
	remove(t, c, "build")
	s = start(t, c)
	s.Await(func(st *service.Status) bool { return st.Timesteps == service.TimestepCounts{Settled: 5} })
	s.Stop()
}
