package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/role"
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
	d.fill(1)
	d.settle(1)
	d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
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
}
