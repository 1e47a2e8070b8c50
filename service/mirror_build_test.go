package service_test

import (
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/train"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/column"
)

// sliceAt names what one shard has at one timestep.
type sliceAt struct {
	Shard    lethe.ShardID
	Timestep lethe.Timestep
}

// built is what training from nothing gives.
type built struct {
	slices map[sliceAt][]byte
	// checkpoints are in their topic, stored are in the stores of train.
	checkpoints, stored map[sliceAt][]byte
	// ensemble is the hash of the models after the last settled timestep.
	ensemble string
}

// build trains every model from fresh weights through its slices.
func (m *mirror) build() built {
	out := built{
		slices: make(map[sliceAt][]byte), checkpoints: make(map[sliceAt][]byte), stored: make(map[sliceAt][]byte),
	}
	layout, over := m.models()
	models := make([]*trainer.Checkpoint, layout.Models())
	for number := range models {
		models[number] = m.train(lethe.ShardID(number), layout, out)
	}
	var learnt *meta.Model
	lineages := ensemble.NewLineages(layout, over)
	previous := lethe.NoTimestep
	var window [][]*lethe.Slice
	for _, at := range m.settled {
		digests := make([]lethe.Digest, layout.Shards)
		for shard, s := range m.slices[at] {
			data := canonical.EncodeSlice(s)
			out.slices[sliceAt{lethe.ShardID(shard), at}], digests[shard] = data, canonical.DigestOf(data)
		}
		lineages.Learn(at, previous, digests)
		previous, window = at, append(window, m.slices[at])
	}
	if over != nil && len(window) > 0 {
		var err error
		sources := ensemble.Window(window[max(0, len(window)-over.Timesteps):])
		learnt, err = m.runner.Learn(m.t.Context(), *over, models, sources, new(ensemble.Known))
		require.NoError(m.t, err)
		all, known := lineages.At(previous)
		require.True(m.t, known)
		learnt.Lineage = all[len(models)]
		at := sliceAt{lethe.ShardID(len(models)), previous}
		out.checkpoints[at], out.stored[at] = learnt.Encode(), learnt.Encode()
	}
	e, err := ensemble.Of(models, learnt)
	require.NoError(m.t, err)
	out.ensemble = e.Version.String()
	return out
}

// train trains a model and notes the checkpoints that train keeps: those of models that
// are fitted anew for each timestep only as long as they are asked for, of others the milestones, too. In its topic is
// that of the newest timestep, for no score waits for an older one.
func (m *mirror) train(number lethe.ShardID, layout ensemble.Layout, out built) *trainer.Checkpoint {
	c := m.runner.Column(number)
	var slices []*lethe.Slice
	var before *trainer.Checkpoint
	for i, at := range m.settled {
		var parts []*lethe.Slice
		for _, shard := range layout.ShardsOf(number) {
			parts = append(parts, m.slices[at][shard])
		}
		s, err := layout.Slice(number, parts)
		require.NoError(m.t, err)
		slices = append(slices, s)
		step, err := c.Advance(m.t.Context(), before, column.Window(c.Engine.Config(), slices))
		require.NoError(m.t, err)
		before = step.Checkpoint
		data, newest := trainer.EncodeCheckpoint(before), i == len(m.settled)-1
		if newest {
			out.checkpoints[sliceAt{number, at}] = data
		}
		if newest || c.Engine.Config().Schedule != trainer.Window && train.Milestone(m.settled, at) {
			out.stored[sliceAt{number, at}] = data
		}
	}
	return before
}

// models are which models there are, and the meta-model over them, nil for none.
func (m *mirror) models() (ensemble.Layout, *meta.Config) {
	layout, err := m.c.Layout()
	require.NoError(m.t, err)
	over, err := m.c.MetaConfig()
	require.NoError(m.t, err)
	return layout, over
}

// learners are the models that learn from some shards, the meta-model among them, each
// with the first timestep from which one of its shards changed.
func (m *mirror) learners(from map[lethe.ShardID]lethe.Timestep) map[lethe.ShardID]lethe.Timestep {
	out := make(map[lethe.ShardID]lethe.Timestep)
	layout, over := m.models()
	for shard, t := range from {
		numbers := layout.ModelsOf(shard)
		if over != nil {
			numbers = append(numbers, lethe.ShardID(layout.Models()))
		}
		for _, number := range numbers {
			if first, found := out[number]; !found || t < first {
				out[number] = t
			}
		}
	}
	return out
}
