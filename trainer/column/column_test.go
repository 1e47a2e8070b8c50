package column_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/trainer"
	"lethe/trainer/column"
	"lethe/trainer/kernels"
)

func small(t require.TestingT, schedule string, window int) column.Column {
	c := trainer.Defaults()
	c.Hidden, c.Passes, c.Seed, c.Schedule, c.WindowTimesteps = 4, 1, 5, schedule, window
	engine, err := trainer.NewEngine(c, kernels.Default())
	require.NoError(t, err)
	return column.Column{Engine: engine, Shard: 3}
}

func sliceOf(t lethe.Timestep, salt uint64) *lethe.Slice {
	const features = 3
	d := lethe.NewDraw(salt, "test-slice", uint64(t))
	s := &lethe.Slice{Timestep: t, Previous: t - 1, Shard: 3, FeatureCount: features}
	for i := range 5 {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i), byte(t), byte(salt)})
		s.Labels = append(s.Labels, []lethe.Label{lethe.Illicit, lethe.Licit, lethe.Unknown}[i%3])
		for range features {
			s.Features = append(s.Features, float32(d.Float64()))
		}
	}
	s.Edges = []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 4}}
	return s
}

// columnOf begins with timestep 0, which has none before it.
func columnOf(n int) []*lethe.Slice {
	out := make([]*lethe.Slice, n)
	for i := range out {
		out[i] = sliceOf(lethe.Timestep(i), 1)
	}
	return out
}

func replayed(
	t require.TestingT, c column.Column, from *trainer.Checkpoint, slices []*lethe.Slice,
) map[lethe.Timestep]*trainer.Checkpoint {
	out := make(map[lethe.Timestep]*trainer.Checkpoint)
	for step, err := range c.Replay(context.Background(), from, slices) {
		require.NoError(t, err)
		out[step.Checkpoint.Timestep] = step.Checkpoint
	}
	return out
}

// It does not matter where a replay starts, how far back it is given slices, or
// that a slice was replaced before: every checkpoint is that of training
// everything from the first slice, and those that Stale does not name keep their
// bytes. Lineages says what they were trained on.
func TestReplayFromAnywhereIsTrainingAnew(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		schedule := rapid.SampledFrom([]string{trainer.Continual, trainer.Window}).Draw(rt, "schedule")
		window := rapid.IntRange(1, 3).Draw(rt, "window")
		n := rapid.IntRange(1, 5).Draw(rt, "timesteps")
		replaced := rapid.IntRange(0, n-1).Draw(rt, "replaced")
		c, slices := small(rt, schedule, window), columnOf(n)
		before := replayed(rt, c, nil, slices)

		slices[replaced] = sliceOf(lethe.Timestep(replaced), 2)
		after := replayed(rt, c, nil, slices)
		reach := max(0, replaced+1-window)
		again := replayed(rt, c, before[lethe.Timestep(replaced-1)], slices[min(reach, replaced):])
		if replaced == 0 {
			again = replayed(rt, c, nil, slices)
		}

		var timesteps []lethe.Timestep
		var digests []lethe.Digest
		for _, s := range slices {
			timesteps, digests = append(timesteps, s.Timestep), append(digests, canonical.DigestSlice(s))
		}
		stale := make(map[lethe.Timestep]bool)
		for _, at := range column.Stale(c.Engine.Config(), timesteps, lethe.Timestep(replaced)) {
			stale[at] = true
		}
		var lineage lethe.Digest
		for i, at := range timesteps {
			want := trainer.EncodeCheckpoint(after[at])
			lineage = c.Engine.Config().LineageOf(lineage, column.Window(c.Engine.Config(), digests[:i+1]))
			require.Equal(rt, lineage, after[at].Lineage, "timestep %d", at)
			require.Equal(rt, !stale[at], string(trainer.EncodeCheckpoint(before[at])) == string(want), "timestep %d", at)
			if i >= replaced {
				require.Equal(rt, want, trainer.EncodeCheckpoint(again[at]), "timestep %d", at)
			}
		}
		newest, err := c.Newest(context.Background(), nil, slices)
		require.NoError(rt, err)
		require.Equal(rt, trainer.EncodeCheckpoint(after[lethe.Timestep(n-1)]), trainer.EncodeCheckpoint(newest))
	})
}

// Under the schedule window the newest checkpoint needs no slice older than its
// window, so an erasure there changes nothing.
func TestErasureOlderThanTheWindowChangesNothing(t *testing.T) {
	c, slices := small(t, trainer.Window, 2), columnOf(4)
	want, err := c.Newest(t.Context(), nil, slices)
	require.NoError(t, err)
	slices[1] = sliceOf(1, 2)
	got, err := c.Newest(t.Context(), nil, slices)
	require.NoError(t, err)
	require.Equal(t, trainer.EncodeCheckpoint(want), trainer.EncodeCheckpoint(got))
	got, err = c.Newest(t.Context(), nil, slices[2:])
	require.NoError(t, err)
	require.Equal(t, trainer.EncodeCheckpoint(want), trainer.EncodeCheckpoint(got))
}

// Slices that are missing are an error, never another model.
func TestReplayRefusesGaps(t *testing.T) {
	c, slices := small(t, trainer.Continual, 2), columnOf(4)
	kept := replayed(t, c, nil, slices)
	for name, given := range map[string]struct {
		from   *trainer.Checkpoint
		slices []*lethe.Slice
	}{
		"a gap":                          {nil, []*lethe.Slice{slices[0], slices[2]}},
		"no first slice":                 {nil, slices[1:]},
		"a gap behind the checkpoint":    {kept[0], slices[2:]},
		"a window that is not all there": {kept[1], slices[2:]},
	} {
		_, err := c.Newest(t.Context(), given.from, given.slices)
		require.ErrorIs(t, err, trainer.ErrInvalidSlice, name)
	}
	got, err := c.Newest(t.Context(), kept[3], slices)
	require.NoError(t, err)
	require.Same(t, kept[3], got, "nothing is newer")
}
