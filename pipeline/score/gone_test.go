package score

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// Train sends models of a timestep before it knows that this is gone, and their deletion
// may be compacted away before it is read. Whether such a model comes before the command
// or after it, it is forgotten, and the erasure waits for nothing. Once the timestep has
// come again, its models are taken.
func TestModelsOfAGoneTimestepAreForgotten(t *testing.T) {
	w, store, topics := newScenario(t, 2), roletest.NewStore(), topics()
	o := optionsFor(topics)
	o.Layout = w.layout()
	r := newSubject(t, o, store)
	require.NoError(t, r.arrive(t, w.graph(1), w.graph(2), w.manifest(1), w.model(0, 1), w.model(1, 1), w.manifest(2)))
	before, after := w.model(0, 2), w.model(1, 2)
	require.NoError(t, r.arrive(t, before))
	require.Len(t, candidatesOf(r, 2), 1)

	gone := w.remove(2)
	c := w.command(wire.PhaseSearch, gone, 1, 2)
	records, err := c.Records()
	require.NoError(t, err)
	n, err := wire.ParseNotice(ingest.Record{Key: records[0].Key, Value: records[0].Value})
	require.NoError(t, err)
	require.NoError(t, r.Feed(t.Context(), role.Input{Notices: []wire.Notice{n}}))
	require.NoError(t, r.arrive(t, after))
	require.Empty(t, candidatesOf(r, 2))
	require.Equal(t, map[string]int{"suppressed": 1, "swapped": 1, "erased": 1, "scanned": 1}, acks(t, topics))

	r = newSubject(t, o, store)
	require.NoError(t, r.Feed(t.Context(), role.Input{Notices: []wire.Notice{n}}))
	require.Empty(t, candidatesOf(r, 2))
	require.NoError(t, store.Scan([]byte(modelPrefix), func(key, _ []byte) error {
		m, err := modelOf(key)
		require.EqualValues(t, 1, m.timestep)
		return err
	}))

	after.Revision = c.Steps[0].Revision + 1
	require.NoError(t, r.arrive(t, after))
	require.Len(t, candidatesOf(r, 2), 1)
}

// What a killed process has not deleted of a timestep that it had noted as gone, and a graph that
// nothing waits for any more, goes at the start: they may hold what is erased.
func TestWhatAKilledProcessHasNotDeletedGoes(t *testing.T) {
	w, store, topics := newScenario(t, 2), roletest.NewStore(), topics()
	o := optionsFor(topics)
	o.Layout = w.layout()
	r := newSubject(t, o, store)
	require.NoError(t, r.arrive(t, w.graph(1), w.manifest(1), w.model(0, 1), w.model(1, 1), w.graph(2)))
	count := func() (n int) {
		for _, prefix := range []string{snapshotPrefix, publishedPrefix, explainedPrefix} {
			require.NoError(t, store.Scan([]byte(prefix), func([]byte, []byte) error {
				n++
				return nil
			}))
		}
		return n
	}
	before := count()
	require.Positive(t, before)
	require.NoError(t, store.Apply(func(k swapstore.Writer) error {
		k.Set(timestepkey.New(snapshotPrefix, 1), w.graph(1).Payload)
		k.Set(timestepkey.New(snapshotPrefix, 9), nil)
		k.Set(timestepkey.New(publishedPrefix, 9), (&published{}).encode())
		k.Set(timestepkey.New(explainedPrefix, 9), explained{}.encode())
		return nil
	}))
	require.Equal(t, before+4, count())
	newSubject(t, o, store)
	require.Equal(t, before, count())
}

// candidatesOf are the models of a timestep that may be served.
func candidatesOf(r subject, t lethe.Timestep) (out []candidate) {
	for c := range r.logic.state.candidates {
		if c.timestep == t {
			out = append(out, c)
		}
	}
	return out
}

func TestCandidatesAreReadAsTheyAreStored(t *testing.T) {
	c, digest := candidate{timestep: 3, shard: 1}, lethe.Digest{5}
	m, r, err := candidateOf(c.key(), encodeCandidate(digest, 7))
	require.NoError(t, err)
	require.Equal(t, model{c, digest}, m)
	require.Equal(t, lethe.Revision(7), r)
	_, _, err = candidateOf(c.key(), digest[:])
	require.Error(t, err)
}

// Reasons of a timestep that goes while they are made are not published, and no ensemble is kept for them.
func TestATimestepThatGoes_LeavesNoReasons(t *testing.T) {
	topics, w, store := topics(), wide(t, 3), roletest.NewStore()
	o := alerting(topics, w)
	o.ReasonsBeside = true
	r := explainedRun(t, o, w, store)
	require.Equal(t, lethe.Timestep(2), r.logic.explaining.at)
	for _, kind := range []wire.Kind{wire.KindSnapshot, wire.KindManifest} {
		require.NoError(t, r.arrive(t, wire.Message{Key: wire.Key{Kind: kind, Timestep: 2}, Deleted: true}))
	}
	explainBeside(t, r)
	for id := range reasonsNow(t, topics) {
		require.False(t, slices.ContainsFunc(w.graphs[2].Nodes, func(n lethe.SnapshotNode) bool { return n.ID == id }), id)
	}
	require.NotContains(t, r.logic.state.links, lethe.Timestep(2))
	require.NotContains(t, r.logic.state.pins, lethe.Timestep(2))
}
