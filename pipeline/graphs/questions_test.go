package graphs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
)

// A question is answered between two steps of a role that has nothing to do, and changes nothing;
// one to a role that has ended is given up.
func TestQuestionsAreAnsweredBetweenSteps(t *testing.T) {
	d := deploy(t)
	d.questions = NewQuestions()
	r, stop := d.run(t.TempDir())
	d.settled(r, 1)
	q := Question{
		Targets: lethe.Transactions(transactionID(1, 0), "nobody", "nobody"), Held: true,
		Scopes: []lethe.Scope{lethe.ScopeStubs, lethe.ScopePartition},
	}
	before, err := d.questions.Ask(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, []lethe.Timestep{1}, before.Settled)
	require.Equal(t, []bool{true, false}, before.Plans[lethe.ScopeStubs].Held)
	require.Equal(t, 3, before.Plans[lethe.ScopeStubs].Steps[0].Payments)
	require.Len(t, before.Held, 2)
	require.Len(t, before.Held[0].Payments, 3)
	require.Empty(t, before.Held[1].State)
	again, err := d.questions.Ask(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, before, again)

	q.Targets = []lethe.Target{{Kind: lethe.SubjectTarget}}
	_, err = d.questions.Ask(t.Context(), q)
	require.ErrorIs(t, err, lethe.ErrTarget)

	stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = d.questions.Ask(ctx, q)
	require.ErrorIs(t, err, ErrBusy)
}
