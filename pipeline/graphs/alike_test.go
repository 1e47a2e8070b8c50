package graphs

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/cputime"
	"lethe/snapshot"
)

// fillAlike fills the folder of a role with timesteps of transactions that carry a subject each.
func fillAlike(t testing.TB, o Options, steps lethe.Timestep, together int) {
	t.Helper()
	s, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
		Config: o.Snapshot, Secret: o.Secret, FS: vfs.Default, TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(t, err)
	features, offset := make([]float32, o.Snapshot.FeatureCount), int64(0)
	for step := lethe.Timestep(1); step <= steps; step++ {
		batch, err := s.Begin(snapshot.Source{Stream: snapshot.Transactions, Topic: "topic"})
		require.NoError(t, err)
		for n := range together {
			features[n%len(features)]++
			_, err := batch.Transaction(lethe.Transaction{
				ID: lethe.TransactionID(fmt.Sprintf("Order-%d-%d", step, n)), Timestep: step, Features: features,
				Subjects: []string{fmt.Sprintf("Customer %d-%d", step, n)},
			}, snapshot.Origin{Offset: offset})
			require.NoError(t, err)
			offset++
		}
		_, err = batch.Control(step, snapshot.Origin{Offset: offset})
		require.NoError(t, err)
		offset++
		require.NoError(t, batch.Commit(offset))
		closing, err := s.BeginClosing(step)
		require.NoError(t, err)
		require.NoError(t, closing.Finish(t.Context()))
		require.NoError(t, closing.Sync())
		closing.Clean()
	}
	require.NoError(t, s.Close())
}

// misspelt are ids and subjects of fillAlike as nobody has written them.
func misspelt(step, n int) []lethe.Target {
	return append(lethe.Transactions(lethe.TransactionID(fmt.Sprintf("ORDER-%d-%d", step, n))),
		lethe.SubjectThrough(fmt.Sprintf("customer %d-%d ", step, n), lethe.NoTimestep))
}

func TestAlike_SubjectsAndIDs_AreHeldAsOtherSpellings(t *testing.T) {
	d := deploy(t)
	o := d.options(t.TempDir())
	fillAlike(t, o, 2, 3)
	targets := append(misspelt(2, 1), lethe.SubjectThrough("Customer 9-9", lethe.NoTimestep),
		lethe.SubjectThrough("CUSTOMER 2-1", 1), lethe.SubjectThrough("Customer 1-1", lethe.NoTimestep),
		lethe.FeaturesOf("Order-2-2", 999)) // beyond the last column
	ask := func() Answer {
		answer, err := AskStopped(t.Context(), o, 1, Question{Targets: targets, Scopes: []lethe.Scope{lethe.ScopeStubs}})
		require.NoError(t, err)
		return answer
	}
	var subjects, ids []string
	answer := ask()
	require.Len(t, answer.Unknown, 5)
	for _, alike := range answer.Alike {
		if alike.Kind == lethe.SubjectTarget {
			subjects = append(subjects, alike.Subject)
			continue
		}
		ids = append(ids, string(alike.Transaction))
	}
	require.Equal(t, []string{"ORDER-2-1"}, ids)
	require.Equal(t, []string{"customer 2-1 "}, subjects, "what is carried later than the request's end is no match")

	// The folded form goes with what carries the subject.
	s, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
		Config: o.Snapshot, Secret: o.Secret, FS: vfs.Default, TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(t, err)
	require.NoError(t, s.Erase(t.Context(), lethe.Transactions("Order-2-1")))
	require.NoError(t, s.Close())
	require.Empty(t, ask().Alike)
}

// BenchmarkPlan_UnknownTargets_Of200000 plans for an id and a subject that 200,000 transactions of 165 features have in
// another spelling. The first plan opens the stores of closed timesteps.
func BenchmarkPlan_UnknownTargets_Of200000(b *testing.B) {
	const steps, together = 50, 4000
	d := deploy(b)
	d.features = 165
	o := d.options(b.TempDir())
	fillAlike(b, o, steps, together)
	l, closeStores, err := openStopped(o.agreed(), 1)
	require.NoError(b, err)
	plan := func() {
		answer, err := l.answer(b.Context(), Question{
			Targets: misspelt(steps/2, together/2), Scopes: []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard},
		})
		require.NoError(b, err)
		require.Len(b, answer.Alike, 2)
	}
	started := time.Now()
	plan()
	first := time.Since(started)
	used := cputime.Used()
	for b.Loop() {
		plan()
	}
	b.ReportMetric((cputime.Used()-used).Seconds()/float64(b.N), "processor-s")
	b.ReportMetric(first.Seconds(), "first-s")
	require.NoError(b, closeStores())
}
