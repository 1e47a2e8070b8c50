package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// A process that stands by has erased a transaction, and takes another one with the very features, which is corrected
// at once. Its files hold them, and those of the leader do not any more: the next try has them written anew here,
// too, though what the request names is on no topic by then.
func TestAStandbyWritesItsFilesAnewInEveryTry(t *testing.T) {
	c := newCrew(t)
	c.begin("one")
	c.begin("two")
	c.twoSteps()
	in := func(state deletions.State) {
		t.Helper()
		c.until(c.roles["one"], string(state), func(s *role.Status) bool { return s.Erasures[state] == 1 })
	}
	c.submit(transactionID(1, 1))
	in(deletions.Accepted)
	c.answer("score", deletions.StepSuppressed)
	erased := func() bool { return c.answered("two", deletions.StepErased) }
	require.Eventually(t, erased, 30*time.Second, 5*time.Millisecond)

	for _, first := range []float32{1, 9} {
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{
			ID: "alike", Timestep: 3, Features: []float32{first, 1, 0.5},
		})
		require.NoError(t, err)
		c.send(bus.Transactions, ingest.Outgoing{Key: key, Value: value})
		for name, r := range c.roles { // in a batch of its own
			c.until(r, name, func(s *role.Status) bool { return s.Count(lethe.Open) == 1 })
		}
	}
	c.fill(3)
	for name, r := range c.roles {
		c.until(r, name, func(s *role.Status) bool { return s.Count(lethe.Closed) == 2 })
	}
	c.answer("train", deletions.StepPurged)
	c.answer("score", deletions.StepSwapped)
	for _, name := range []string{"train", "score"} {
		c.answerTries(name, deletions.StepErased, 9)
		c.answerTries(name, deletions.StepScanned, 9)
	}
	in(deletions.Verified)
}

// answered reports whether a process of the role has said that it has done a step of the erasure.
func (d *deployment) answered(identity string, step deletions.Step) (is bool) {
	d.Helper()
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.Control, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		is = is || n.Ack != nil && n.Ack.Role == roleName && n.Ack.Instance == identity && n.Ack.Step == step
		return err
	}))
	return is
}
