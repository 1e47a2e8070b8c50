package score

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// takesOver is a process that leads, on topics to which another one has written all predictions of the timesteps
// 2 and 3 and said nothing else. It has come to all but the models of the second timestep: the third waits for them.
func takesOver(t *testing.T, w *scenario) (subject, *roletest.Bus) {
	t.Helper()
	elsewhere, topics := topics(), topics()
	one := newSubject(t, optionsFor(elsewhere), roletest.NewStore())
	models := func(at lethe.Timestep) []wire.Message { return []wire.Message{w.model(0, at), w.model(1, at)} }
	stream := []wire.Message{w.graph(1), w.manifest(1), w.graph(2), w.manifest(2), w.graph(3), w.manifest(3)}
	for _, messages := range [][]wire.Message{stream, models(1), models(2)} {
		require.NoError(t, one.arrive(t, messages...))
	}
	require.NoError(t, elsewhere.ReadAll(t.Context(), bus.Predictions, func(rec ingest.Record) error {
		return topics.Write(t.Context(), bus.Predictions, []ingest.Outgoing{{Key: rec.Key, Value: rec.Value}})
	}))
	require.Len(t, predictions(t, topics), 2*nodes)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, stream...))

	o := optionsFor(topics)
	lead := role.NewLead(roleName, "two", roletest.NewGroup().Member("two"), time.Now, slog.New(slog.DiscardHandler))
	o.Standing = &role.Standing{Lead: lead, Term: 1}
	two := newSubject(t, o, roletest.NewStore())
	require.NoError(t, two.arrive(t, stream...))
	require.NoError(t, two.arrive(t, models(1)...))
	require.Len(t, predictions(t, topics), 2*nodes)
	return two, topics
}

// unnoted reports whether something of what the one before has published is still to be noted.
func (s subject) unnoted(t *testing.T) bool {
	t.Helper()
	out, err := s.logic.Step(t.Context(), time.Now, role.Input{})
	require.NoError(t, err)
	require.True(t, out.Idle)
	return out.Unnoted
}

// readAll tells a process that it has read all graphs.
func (s subject) readAll(t *testing.T, topics *roletest.Bus) {
	t.Helper()
	ends, err := bus.EndsOf(t.Context(), topics, bus.Snapshots)
	require.NoError(t, err)
	for tp, end := range ends {
		require.NoError(t, s.Feed(t.Context(), role.Input{Batch: bus.Batch{Source: tp, Next: end}}))
	}
}

// As long as what the one before has published waits to be noted, it is not announced that all is: whoever leads next
// would predict it again.
func TestWhatIsStillToBeNotedIsNotAnnounced(t *testing.T) {
	w := newScenario(t, 3)
	two, topics := takesOver(t, w)
	require.True(t, two.unnoted(t), "the third timestep waits for models")
	require.NoError(t, two.arrive(t, w.model(0, 2), w.model(1, 2)))
	require.Len(t, predictions(t, topics), 2*nodes)
	require.False(t, two.unnoted(t))
}

// Of a transaction that is erased before its graph is read nothing waits, but only once all graphs were read: it might
// be in one of those.
func TestWhatIsErasedIsNotWaitedFor(t *testing.T) {
	w := newScenario(t, 3)
	two, topics := takesOver(t, w)
	w.erase(3, 0)
	require.NoError(t, two.arrive(t, w.graph(3), w.manifest(3)))
	require.NoError(t, two.arrive(t, w.model(0, 2), w.model(1, 2)))
	require.True(t, two.unnoted(t))
	two.readAll(t, topics)
	require.False(t, two.unnoted(t))
	require.Len(t, predictions(t, topics), 2*nodes)
}

// Who stands by may come to a request before the graph that who leads had scored before it: what is suppressed counts
// as predicted.
func TestAStandbyCountsWhatIsSuppressedAsPredicted(t *testing.T) {
	w, topics, store := newScenario(t, 3), topics(), roletest.NewStore()
	o := optionsFor(topics)
	lead := role.NewLead(roleName, "two", allNoted{topics}, time.Now, slog.New(slog.DiscardHandler))
	o.Standing = &role.Standing{Lead: lead}
	two := newSubject(t, o, store)
	gone := []lethe.TransactionID{w.graphs[2].Nodes[1].ID}
	told := journal.Served{Through: 1, Scored: &journal.Scored{Through: 2}}
	require.NoError(t, two.Feed(t.Context(), role.Input{
		Notices: []wire.Notice{{Command: w.command(wire.PhaseSuppress, gone, 3)}},
		Entries: []journal.Entry{{Role: roleName, Decision: told}},
	}))
	require.NoError(t, two.arrive(t, w.graph(1), w.manifest(1), w.graph(2)))
	require.NoError(t, two.arrive(t, w.model(0, 1), w.model(1, 1)))
	lift := w.command(wire.PhaseLift, gone, 3)
	require.NoError(t, two.Feed(t.Context(), role.Input{Notices: []wire.Notice{{Command: lift}}}))

	o.Standing = &role.Standing{Lead: lead, Term: 1}
	two = newSubject(t, o, store)
	w.join(2)
	require.NoError(t, two.arrive(t, w.graph(2)))
	all := predictions(t, topics)
	require.Len(t, all, 1)
	require.NotEqual(t, gone[0], all[0].Transaction)
}

// What the one before has predicted of a transaction counts though it is suppressed when it is to be noted: else it
// would be predicted again, as one that came late, if the request is taken back.
func TestWhatIsSuppressedCountsAsPredicted(t *testing.T) {
	w := newScenario(t, 3)
	two, topics := takesOver(t, w)
	gone := []lethe.TransactionID{w.graphs[3].Nodes[1].ID}
	command := w.command(wire.PhaseSuppress, gone, 3)
	require.NoError(t, two.Feed(t.Context(), role.Input{Notices: []wire.Notice{{Command: command}}}))
	require.NoError(t, two.arrive(t, w.model(0, 2), w.model(1, 2)))
	two.readAll(t, topics)
	require.False(t, two.unnoted(t))
	lift := w.command(wire.PhaseLift, gone, 3)
	require.NoError(t, two.Feed(t.Context(), role.Input{Notices: []wire.Notice{{Command: lift}}}))
	w.join(3)
	require.NoError(t, two.arrive(t, w.graph(3), w.manifest(3)))
	all := predictions(t, topics)
	require.Len(t, all, 2*nodes+1)
	require.True(t, all[2*nodes].Late)
	require.NotEqual(t, gone[0], all[2*nodes].Transaction)
}

// Who stands by passes over nothing that who leads has not scored, whatever that serves.
func TestAStandbyPassesOverNothingThatIsNotScored(t *testing.T) {
	w, topics := newScenario(t, 2), topics()
	o := optionsFor(topics)
	o.Standing = &role.Standing{
		Lead: role.NewLead(roleName, "two", allNoted{topics}, time.Now, slog.New(slog.DiscardHandler)),
	}
	two := newSubject(t, o, roletest.NewStore())
	require.NoError(t, two.arrive(t, w.graph(1), w.manifest(1), w.graph(2)))
	for _, scored := range []lethe.Timestep{1, 2} {
		told := journal.Served{Through: 3, Scored: &journal.Scored{Through: scored}}
		require.NoError(t, two.Feed(t.Context(), role.Input{Entries: []journal.Entry{{Role: roleName, Decision: told}}}))
		for range passTicks + 1 {
			require.NoError(t, two.Feed(t.Context(), role.Input{Ticked: true}))
		}
		require.Equal(t, scored == 2, two.logic.state.links[2].done)
	}
}
