package ensemble_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// mixed is an ensemble of three components: networks of one group per shard, trees of two
// groups and logistic regression of three, which are single shards too.
func mixed(t testing.TB) ensemble.Layout {
	t.Helper()
	l := ensemble.Layout{Shards: shards}
	for _, text := range []string{
		"elliptic-gin:3:hidden=4:window=2:passes=1", "trees:2:rounds=4:leaves=3:rows=1", "logistic:3",
	} {
		c, err := ensemble.ParseComponent(text, shards, trainer.Defaults())
		require.NoError(t, err)
		c.Config.Seed = 5
		l.Components = append(l.Components, c)
	}
	return l
}

func TestEveryShardHasOneModelPerComponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ensemble.Layout{Shards: rapid.IntRange(1, 12).Draw(t, "shards")}
		for range rapid.IntRange(1, 4).Draw(t, "components") {
			l.Components = append(l.Components, ensemble.Component{
				Config: trainer.Defaults(), Groups: rapid.IntRange(1, l.Shards).Draw(t, "groups"),
			})
		}
		require.NoError(t, l.Validate())
		learners := make(map[lethe.ShardID]int)
		for number := range lethe.ShardID(l.Models()) {
			component, in := l.Place(number)
			require.Less(t, in, l.Components[component].Groups)
			for _, shard := range l.ShardsOf(number) {
				learners[shard]++
				require.Equal(t, number, l.ModelsOf(shard)[component])
			}
			require.Contains(t, l.Affected(l.ShardsOf(number)), number)
		}
		for shard := range lethe.ShardID(l.Shards) {
			require.Equal(t, len(l.Components), learners[shard])
		}
		require.Panics(t, func() { l.Place(lethe.ShardID(l.Models())) })
	})
}

// The digest of what a model learns from is known to whoever knows those of the slices.
func TestDigestsOfGroupsFollowFromThoseOfSlices(t *testing.T) {
	l := mixed(t)
	require.Equal(t, 3+2+3, l.Models())
	all := columns(1)
	digests := make([]lethe.Digest, shards)
	for shard := range all {
		digests[shard] = canonical.DigestSlice(all[shard][0])
	}
	for number := range lethe.ShardID(l.Models()) {
		var parts []*lethe.Slice
		for _, shard := range l.ShardsOf(number) {
			parts = append(parts, all[shard][0])
		}
		s, err := l.Slice(number, parts)
		require.NoError(t, err)
		require.Equal(t, number, s.Shard)
		require.Equal(t, canonical.DigestSlice(s), l.Digest(number, digests))
	}
}

// trainedModels trains the models of a mixed ensemble through timesteps.
func trainedModels(t *testing.T, timesteps, workers int) (ensemble.Runner, []*trainer.Checkpoint) {
	t.Helper()
	l := mixed(t)
	r, err := ensemble.NewRunner(l, kernels.Default(), workers)
	require.NoError(t, err)
	all := columns(timesteps)
	models := make([]*trainer.Checkpoint, l.Models())
	for number := range models {
		var slices []*lethe.Slice
		for at := range timesteps {
			var parts []*lethe.Slice
			for _, shard := range l.ShardsOf(lethe.ShardID(number)) {
				parts = append(parts, all[shard][at])
			}
			s, err := l.Slice(lethe.ShardID(number), parts)
			require.NoError(t, err)
			slices = append(slices, s)
		}
		models[number], err = r.Column(lethe.ShardID(number)).Newest(t.Context(), nil, slices)
		require.NoError(t, err)
	}
	return r, models
}

// trained is a mixed ensemble with the meta-model that is learnt over it.
func trained(t *testing.T, timesteps, workers int) *ensemble.Ensemble {
	t.Helper()
	r, models := trainedModels(t, timesteps, workers)
	all := columns(timesteps)
	var window [][]*lethe.Slice
	for at := range timesteps {
		window = append(window, []*lethe.Slice{all[0][at], all[1][at], all[2][at]})
	}
	over, err := r.Learn(t.Context(), meta.Defaults(), models, ensemble.Window(window), new(ensemble.Known))
	require.NoError(t, err)
	require.Positive(t, over.Rows)
	want, known := lineagesOf(t, timesteps).At(lethe.Timestep(timesteps - 1))
	require.True(t, known)
	over.Lineage = want[r.Layout.Models()]
	e, err := ensemble.Of(models, over)
	require.NoError(t, err)
	require.True(t, e.Fits(want))
	return e
}

// lineagesOf knows the slices of all timesteps.
func lineagesOf(t *testing.T, timesteps int) *ensemble.Lineages {
	t.Helper()
	c := meta.Defaults()
	l := ensemble.NewLineages(mixed(t), &c)
	all := columns(timesteps)
	for at := range timesteps {
		digests := make([]lethe.Digest, shards)
		for shard := range all {
			digests[shard] = canonical.DigestSlice(all[shard][at])
		}
		l.Learn(lethe.Timestep(at), lethe.Timestep(at-1), digests)
	}
	return l
}

// Components with groups of their own and the meta-model over them: the lineages are
// those that the digests call for, and nothing depends on the number of workers.
func TestAMixedEnsembleIsAFunctionOfItsSlices(t *testing.T) {
	e := trained(t, 4, 1)
	require.Equal(t, e.Version, trained(t, 4, 3).Version)
	require.NotEqual(t, e.Version, trained(t, 3, 1).Version)
	without, err := ensemble.Of(e.Models, nil)
	require.NoError(t, err)
	require.NotEqual(t, e.Version, without.Version)

	r, err := ensemble.NewRunner(mixed(t), kernels.Default(), 2)
	require.NoError(t, err)
	said, err := r.Ask(t.Context(), e.Models, trainer.Input{Rows: 2, Cols: 2, Features: []float32{1, 2, 3, 4}})
	require.NoError(t, err)
	logits := said.Logits(mixed(t))
	require.Len(t, logits, 3)
	for _, p := range e.Meta.Probabilities(logits) {
		require.True(t, p >= 0 && p <= 1)
	}
}

// While one model lays the graph out, those are asked that look at a row at a time.
func TestModelsOfRowsAreAskedBehindTheFirst(t *testing.T) {
	r, err := ensemble.NewRunner(mixed(t), kernels.Default(), 1)
	require.NoError(t, err)
	require.Equal(t, []lethe.ShardID{0, 3, 4, 5, 6, 7, 1, 2}, ensemble.Order(r, 8))
}

// What a component with a single group says of a node was learnt from the node, so there
// is nothing to learn a combination from.
func TestNothingIsLearntWithoutAGroupThatHasNotSeenTheNode(t *testing.T) {
	l := mixed(t)
	l.Components = l.Components[:1]
	l.Components[0].Groups = 1
	r, err := ensemble.NewRunner(l, kernels.Default(), 1)
	require.NoError(t, err)
	s, err := l.Slice(0, []*lethe.Slice{columns(1)[0][0], columns(1)[1][0], columns(1)[2][0]})
	require.NoError(t, err)
	step, err := r.Column(0).Advance(t.Context(), nil, []*lethe.Slice{s})
	require.NoError(t, err)
	models := []*trainer.Checkpoint{step.Checkpoint}
	over, err := r.Learn(t.Context(), meta.Defaults(), models, ensemble.Window([][]*lethe.Slice{{s}}), new(ensemble.Known))
	require.NoError(t, err)
	require.Zero(t, over.Rows)
	require.Equal(t, []float64{1}, over.Combination.Coefficients())
}

func TestComponentsAsText(t *testing.T) {
	c, err := ensemble.ParseComponent(" trees:4:rounds=30:rate=.2", 20, trainer.Defaults())
	require.NoError(t, err)
	require.Equal(t, 4, c.Groups)
	require.Equal(t, 30, c.Config.Trees.Rounds)
	require.InDelta(t, .2, c.Config.Trees.LearningRate, 0)
	c, err = ensemble.ParseComponent("elliptic-gin", 20, trainer.Defaults())
	require.NoError(t, err)
	require.Equal(t, 20, c.Groups)
	c, err = ensemble.ParseComponent("trees:4", 3, trainer.Defaults())
	require.NoError(t, err)
	require.Equal(t, 3, c.Groups, "no more groups than shards")
	for text, want := range map[string]string{
		"oak:2":                   `component "oak:2": want MODEL:GROUPS with one of the models `,
		"trees:0":                 `component "trees:0": want MODEL:GROUPS with at least 1 group`,
		"trees:2:depth=3":         `there is no key "depth"`,
		"trees:2:rounds=many":     `rounds is "many", want a number`,
		"elliptic-gin:2:passes=0": "passes is 0, want 1 to 10000",
	} {
		_, err := ensemble.ParseComponent(text, 20, trainer.Defaults())
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, ensemble.Layout{}.Validate(), "components is 0, want at least 1")
}
