package train

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/journal"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	schedule "lethe/trainer/column"
)

// mixed are options with a network per shard, trees of two groups, logistic regression of
// one group per shard, and a meta-model over them.
func mixed(t testing.TB, dir string, topics *roletest.Bus) Options {
	t.Helper()
	o := optionsFor(dir, topics)
	o.Layout.Components = nil
	for _, text := range []string{
		"elliptic-gin:3:hidden=4:window=2:passes=1", "trees:2:rounds=4:leaves=3:rows=1", "logistic:3",
	} {
		c, err := ensemble.ParseComponent(text, o.Layout.Shards, trainer.Defaults())
		require.NoError(t, err)
		o.Layout.Components = append(o.Layout.Components, c)
	}
	over := meta.Defaults()
	over.Timesteps = 2
	o.Meta = &over
	return o
}

// whole are the models of a mixed ensemble that train has to keep once score serves one
// through a timestep, computed without stores and topics.
func whole(t testing.TB, o Options, served lethe.Timestep, plans ...plan) map[wire.Key]lethe.Digest {
	t.Helper()
	runner, err := ensemble.NewRunner(o.Layout, o.Kernels, 1)
	require.NoError(t, err)
	want := make(map[wire.Key]lethe.Digest)
	put := func(number lethe.ShardID, at lethe.Timestep, data []byte) {
		want[wire.Key{Kind: wire.KindModel, Shard: number, Timestep: at}] = canonical.DigestOf(data)
	}
	lineages := ensemble.NewLineages(o.Layout, o.Meta)
	models := make([][]*trainer.Checkpoint, len(plans[0].slices))
	for number := range lethe.ShardID(o.Layout.Models()) {
		c := runner.Column(number)
		var slices []*lethe.Slice
		var before *trainer.Checkpoint
		for i, s := range plans[0].slices {
			var parts []*lethe.Slice
			for _, shard := range o.Layout.ShardsOf(number) {
				parts = append(parts, plans[shard].slices[i])
			}
			union, err := o.Layout.Slice(number, parts)
			require.NoError(t, err)
			slices = append(slices, union)
			step, err := c.Advance(t.Context(), before, schedule.Window(c.Engine.Config(), slices))
			require.NoError(t, err)
			models[i] = append(models[i], step.Checkpoint)
			if before = step.Checkpoint; s.Timestep >= served {
				put(number, s.Timestep, trainer.EncodeCheckpoint(before))
			}
		}
	}
	var window [][]*lethe.Slice
	for i, s := range plans[0].slices {
		var ofShards []*lethe.Slice
		var digests []lethe.Digest
		for _, p := range plans {
			ofShards, digests = append(ofShards, p.slices[i]), append(digests, canonical.DigestSlice(p.slices[i]))
		}
		lineages.Learn(s.Timestep, s.Previous, digests)
		window = append(window, ofShards)
		sources := ensemble.Window(window[max(0, i+1-o.Meta.Timesteps):])
		over, err := runner.Learn(t.Context(), *o.Meta, models[i], sources, new(ensemble.Known))
		require.NoError(t, err)
		all, known := lineages.At(s.Timestep)
		require.True(t, known)
		if over.Lineage = all[o.Layout.Models()]; s.Timestep >= served {
			put(lethe.ShardID(o.Layout.Models()), s.Timestep, over.Encode())
		}
	}
	return want
}

// say tells train through which timestep the served models are.
func say(t testing.TB, topics *roletest.Bus, through lethe.Timestep) {
	t.Helper()
	log := journal.Open(topics, journal.ForAll, "score", "it", journal.Position{})
	require.NoError(t, log.Read(t.Context()))
	require.NoError(t, log.Append(t.Context(), topics.Write, journal.Served{Through: through}))
}

func awaitModels(t testing.TB, topics *roletest.Bus, want map[wire.Key]lethe.Digest) {
	t.Helper()
	var got map[wire.Key]lethe.Digest
	assert.Eventually(t, func() bool {
		got = payloads(t, topics)
		return topics.Idle(1) && maps.Equal(got, want)
	}, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, want, got)
}
