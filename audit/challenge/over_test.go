package challenge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
	"lethe/canonical"
	"lethe/deletions/translog"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// learnMeta learns the newest meta-model and commits to it, altered by what is given.
func (d *deployment) learnMeta(t *testing.T, alter func(m *meta.Model)) {
	window := make([][]*lethe.Slice, 0, d.setup.Meta.Timesteps)
	lineages := ensemble.NewLineages(d.setup.Layout, d.setup.Meta)
	for at := range lethe.Timestep(timestepsOfTests) {
		var slices []*lethe.Slice
		var digests []lethe.Digest
		for shard := range lethe.ShardID(shardsOfTests) {
			p := challenge.Pair{Shard: shard, Timestep: at}
			slices, digests = append(slices, d.slices[p]), append(digests, d.view.Slice(p))
		}
		lineages.Learn(at, at-1, digests)
		if int(at) >= timestepsOfTests-d.setup.Meta.Timesteps {
			window = append(window, slices)
		}
	}
	models := make([]*trainer.Checkpoint, d.setup.Models())
	for number := range models {
		models[number] = d.models[challenge.Pair{Shard: lethe.ShardID(number), Timestep: timestepsOfTests - 1}]
	}
	made, err := d.runner.Learn(t.Context(), *d.setup.Meta, models, ensemble.Window(window), new(ensemble.Known))
	require.NoError(t, err)
	known, found := lineages.At(timestepsOfTests - 1)
	require.True(t, found)
	made.Lineage = known[len(known)-1]
	alter(made)
	component := len(d.setup.Components)
	d.log(t, translog.Checkpoint{
		Component: component, Timestep: timestepsOfTests - 1, Lineage: made.Lineage,
		Digest:   canonical.DigestOf(made.Encode()),
		Replaces: d.view.Model(component, 0, timestepsOfTests-1),
	})
}

func TestTheMetaModelIsLearntAnew(t *testing.T) {
	over := meta.Defaults()
	over.Timesteps = 3
	d := deployedOver(t, "meta", &over, networks(2))
	p := challenge.Pair{Shard: 1, Timestep: 1}
	c := d.at(t, p)
	c.Meta = true
	setup, err := d.setup.Encode()
	require.NoError(t, err)
	_, err = challenge.Assemble(c, d.leaves, setup, d)
	require.ErrorContains(t, err, "the log commits to no meta-model after timestep 5")

	d.learnMeta(t, func(*meta.Model) {})
	plain := d.ask(t, d.at(t, p))
	require.True(t, plain.OK)
	asked := func() *challenge.Report {
		c := d.at(t, p)
		c.Meta = true
		return d.ask(t, c)
	}
	r := asked()
	require.Empty(t, r.Problems)
	require.Equal(t, plain.Models+1, r.Models)
	require.Equal(t, plain.Ensemble, r.Ensemble)
	require.NotEqual(t, plain.Challenge, r.Challenge)

	d.learnMeta(t, func(m *meta.Model) { m.Threshold /= 2 })
	require.Equal(t, []string{
		"the meta-model after timestep 5: learning it anew gives other bytes than the log commits to",
	}, asked().Problems)
	require.True(t, d.ask(t, d.at(t, p)).OK, "who does not ask is not told")

	// After an erasure one that was not learnt again is found.
	d.learnMeta(t, func(*meta.Model) {})
	require.True(t, asked().OK)
	d.erase(t, challenge.Pair{Shard: 3, Timestep: 4}, cheat{})
	require.Len(t, asked().Problems, 1)
	d.learnMeta(t, func(*meta.Model) {})
	require.True(t, asked().OK)

	none := deployed(t, "none", networks(1))
	c = none.at(t, p)
	c.Meta = true
	setup, err = none.setup.Encode()
	require.NoError(t, err)
	_, err = challenge.Assemble(c, none.leaves, setup, none)
	require.ErrorContains(t, err, "the deployment has no meta-model")
}
