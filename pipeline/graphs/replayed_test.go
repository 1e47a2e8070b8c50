package graphs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
)

// Of dead letters that are sent again, those of records that are taken go, and those that are
// refused once more say so anew.
func TestAReplayedRecordTakesItsLetterAway(t *testing.T) {
	d := deploy(t)
	d.window = time.Millisecond
	r, _ := d.run(t.TempDir())
	transaction := func(id lethe.TransactionID, at lethe.Timestep) ingest.Record {
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: []float32{1, 2, 3}})
		require.NoError(t, err)
		return ingest.Record{Topic: string(bus.Transactions), Offset: 1000 + int64(at), Key: key, Value: value}
	}
	const tooFar = 1 << 20
	for _, rec := range []ingest.Record{transaction("taken", 1), transaction("refused", tooFar)} {
		d.send(bus.DeadLetters, ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.TimestepJump}, "test"))
	}
	d.settled(r, 1)
	before := d.letterReasons()
	require.Contains(t, before, "taken")

	tooFarAhead := deadletters.Filter{Reasons: []ingest.Reason{ingest.TimestepJump}}
	letters, err := deadletters.List(t.Context(), d.topics, tooFarAhead)
	require.NoError(t, err)
	require.Len(t, letters, 2)
	sent, unsent, err := deadletters.Replay(t.Context(), d.topics, letters, time.Now())
	require.NoError(t, err)
	require.Empty(t, unsent)
	require.Equal(t, 2, sent)
	d.until(r, "one is taken", func(s *role.Status) bool {
		return s.Transactions() == 8 && s.Steps[1].State == lethe.Settled
	})
	require.Equal(t, map[string][]string{"refused": {"timestep_jump"}}, d.letterReasons())
	letters, err = deadletters.List(t.Context(), d.topics, deadletters.Filter{Open: true})
	require.NoError(t, err)
	require.Len(t, letters, 1, "the letter of the record that was refused again is a new one")
	require.Less(t, letters[0].Record.Offset, int64(1000))
	marks := make(map[string]bool)
	for _, rec := range roletest.Records(t, d.topics, bus.DeadLetters) {
		if mark, at, is := ingest.ReadMark(rec); is {
			marks[mark] = !at.IsZero()
		}
	}
	require.Len(t, marks, 2)
	require.NotContains(t, slices.Collect(maps.Values(marks)), true, "what was answered is marked no more")
}

// Somebody lists dead letters, one of them is erased, and what was listed is marked and not sent: whoever does it dies
// between the two. The mark does not bring the letter back, for which nobody looks any more.
func TestMarkingALetterThatIsErasedBringsNothingBack(t *testing.T) {
	d, letters := erasedLetter(t)
	_, _, err := deadletters.Replay(t.Context(), dyingBus{d.topics}, letters, time.Now())
	require.ErrorIs(t, err, errDies)
	for _, rec := range roletest.Records(t, d.topics, bus.DeadLetters) {
		require.NotContains(t, string(rec.Key)+string(rec.Value), "nobody-knows-him")
	}
}

// An earlier version brings the letter back as it marks it. It goes as the record comes, which is dropped.
func TestAReplayedRecordThatIsErasedTakesItsLetterAway(t *testing.T) {
	d, letters := erasedLetter(t)
	record, err := letters[0].Again(time.Now())
	require.NoError(t, err)
	d.send(bus.DeadLetters, ingest.DeadLetter(letters[0].Record, &letters[0].Refusal, "an earlier version"))
	d.send(bus.Transactions, record)
	require.Eventually(t, func() bool { return len(d.letterReasons()) == 0 }, 30*time.Second, 5*time.Millisecond)
}

// dyingBus is that of somebody who dies before he sends a record again.
type dyingBus struct{ *roletest.Bus }

var errDies = errors.New("it dies")

func (b dyingBus) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t != bus.DeadLetters {
		return errDies
	}
	return b.Bus.Write(ctx, t, records)
}

// erasedLetter is a deployment that has erased the dead letters of a list.
func erasedLetter(t *testing.T) (*deployment, []deadletters.Letter) {
	t.Helper()
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	const gone = "nobody-knows-him"
	d.arrives(1<<20, gone, 7, 8, 9)
	d.fill(1)
	d.until(r, "a timestep", func(s *role.Status) bool { return s.Count(lethe.Closed) == 1 })
	letters, err := deadletters.List(t.Context(), d.topics, deadletters.Filter{})
	require.NoError(t, err)
	require.Len(t, letters, 1)

	d.submit(gone)
	d.answer("score", deletions.StepSuppressed)
	d.answer("train", deletions.StepPurged)
	d.answer("score", deletions.StepSwapped)
	for _, step := range []deletions.Step{deletions.StepErased, deletions.StepScanned} {
		d.step(step)
	}
	d.until(r, "it is verified", inState(deletions.Verified))
	require.Empty(t, d.letterReasons())
	require.NoError(t, d.topics.Compact())
	return d, letters
}
