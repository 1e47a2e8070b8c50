package score

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/pipeline/role/roletest"
	"lethe/scoring/ensemble"
)

// The role is opened once with other components while models wait to be served.
func TestOpenedOnceWithOtherComponents_ModelsThatWaitAreReadAgain(t *testing.T) {
	topics, w, store := topics(), newScenario(t, 4), roletest.NewStore()
	o := optionsFor(topics)
	r := newSubject(t, o, store)
	for at := lethe.Timestep(1); at <= 2; at++ {
		for shard := range lethe.ShardID(shards) {
			require.NoError(t, r.arrive(t, w.model(shard, at)))
		}
		require.NoError(t, r.arrive(t, w.graph(at), w.manifest(at)))
	}
	require.NotNil(t, r.logic.state.models.served)
	for shard := range lethe.ShardID(shards) {
		require.NoError(t, r.arrive(t, w.model(shard, 3)))
	}
	other := o
	other.Layout = ensemble.Layout{Shards: shards, Components: []ensemble.Component{{Config: w.options, Groups: 1}}}
	_, err := newLogic(other, store)
	require.NoError(t, err)
	_, err = newLogic(o, store)
	require.NoError(t, err, "the start after a change back")
}

// A process is started with other components, ends before train has published theirs, and is started as before.
func TestOpenedOnceWithOtherComponents_IsServedAgain(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Dir = t.TempDir()
	_, stop := running(t, o)
	publish(t, topics, w, 1, 2, 3)
	idle(t, topics)
	stop()
	other := o
	other.Layout = ensemble.Layout{Shards: shards, Components: []ensemble.Component{{Config: w.options, Groups: 1}}}
	r, err := New(t.Context(), other)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	r, _ = running(t, o)
	idle(t, topics)
	require.NotNil(t, r.Status().Ensemble)
	require.Equal(t, w.ensemble(3), r.Status().Ensemble.Version)
}
