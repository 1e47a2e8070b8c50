package waiting_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service/waiting"
)

// TestIntakeKeepsTheLatestOutcome measures the latest records: old ones are forgotten once others have come.
func TestIntakeKeepsTheLatestOutcome(t *testing.T) {
	now := start
	in := waiting.NewIntake(after, quiet, func() time.Time { return now })
	in.Accept("t", 2)
	for range 898 {
		in.Reject("t", "bad_id")
	}
	now = now.Add(quiet - time.Second) // nothing comes
	require.Equal(t, 898, in.Outcomes()["t"].Rejected)
	require.Equal(t, int64(898), in.Rejected())
	in.Accept("t", 100)
	now = now.Add(after)
	in.Accept("t", 100)
	require.Equal(t, waiting.Outcome{Accepted: 200, Reasons: map[string]int{}}, in.Outcomes()["t"])
	require.Equal(t, int64(898), in.Rejected())
}

// TestRejectionsOfASilentTopic_AreForgottenAfterAWhile has a producer send one bad record, and then nothing any more.
func TestRejectionsOfASilentTopic_AreForgottenAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, tracker := waiting.NewIntake(after, quiet, time.Now), waiting.NewTracker()
		in.Accept("erasures.v1", 3)
		in.Reject("erasures.v1", "bad_id")
		began := time.Now()
		for time.Since(began) < 2*quiet {
			f := facts()
			f.Now, f.Intake = time.Now(), in.Outcomes()
			list, _ := tracker.Update(f)
			told := slices.ContainsFunc(list, func(w waiting.Wait) bool { return w.Cause == waiting.RecordsRejected })
			require.Equal(t, time.Since(began) >= after && time.Since(began) < quiet, told, time.Since(began))
			time.Sleep(time.Second)
		}
		require.Equal(t, int64(1), in.Rejected(), "the number stays")
		in.Reject("erasures.v1", "bad_id")
		require.Equal(t, 1, in.Outcomes()["erasures.v1"].Rejected, "a new one does not bring the old ones back")
	})
}

// TestGoodRecordsInOneBurstEndTheOutcomeBefore has a producer mended that sends once and then nothing.
func TestGoodRecordsInOneBurstEndTheOutcomeBefore(t *testing.T) {
	now := start
	in := waiting.NewIntake(after, quiet, func() time.Time { return now })
	for range 898 {
		in.Reject("t", "bad_id")
	}
	now = now.Add(quiet / 2)
	in.Accept("t", 5)
	require.Equal(t, 898, in.Outcomes()["t"].Rejected, "a moment says nothing")
	now = now.Add(after)
	require.Equal(t, waiting.Outcome{Accepted: 5, Reasons: map[string]int{}}, in.Outcomes()["t"])
}
