package score

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// A leader that was killed after it had begun an epoch has published nothing: its epoch does not confirm the
// predictions that follow from the entry before it.
func TestAnEpochConfirmsNothing(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Bus = cutOff{topics, 0}
	one, three := newProcess(t, "one", o), newProcess(t, "three", optionsFor(topics))
	one.leads()
	publish(t, topics, w, 1)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	var err error
	for more := true; more && err == nil; {
		more, err = one.Poll(t.Context())
	}
	require.ErrorIs(t, err, errPulled)
	two := journal.Open(topics, journal.ForAll, roleName, "two", journal.Position{})
	require.NoError(t, two.Begin(t.Context(), topics.Write, nil))
	three.leads()
	require.Len(t, predictions(t, topics), nodes)
}
