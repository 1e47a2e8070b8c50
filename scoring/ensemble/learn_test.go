package ensemble_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
	"lethe/trainer"
)

// What the meta-model learns of a node comes from the models that did not learn from it,
// each asked about the whole slice.
func TestRowsAreAskedOfOtherGroups(t *testing.T) {
	const timesteps = 3
	l := mixed(t)
	r, models := trainedModels(t, timesteps, 2)
	asked := 0
	for _, column := range columns(timesteps) {
		s := column[timesteps-1]
		got, err := ensemble.OutOfGroup(t.Context(), r, models, s)
		require.NoError(t, err)
		require.Equal(t, len(l.Components), got.Components)
		var want []float64
		for node, label := range s.Labels {
			if label == lethe.Unknown {
				continue
			}
			for k := range l.Components {
				var said []float64
				for number := range lethe.ShardID(l.Models()) {
					if component, _ := l.Place(number); component != k || slices.Contains(l.ShardsOf(number), s.Shard) {
						continue
					}
					posteriors, err := r.Engine(number).Probabilities(t.Context(), models[number], trainer.InputOfSlice(s))
					require.NoError(t, err)
					said = append(said, ensemble.Illicit(posteriors)[node])
				}
				want = append(want, stack.MeanLogit(said))
			}
			asked++
		}
		require.Equal(t, want, got.Logits)
	}
	require.Positive(t, asked)
}

// Of a slice in which nobody has a label nothing is learnt, and nobody is asked.
func TestASliceWithoutLabelsIsPassedOver(t *testing.T) {
	r, models := trainedModels(t, 3, 2)
	bare := *columns(3)[0][2]
	bare.Labels = slices.Repeat([]lethe.Label{lethe.Unknown}, len(bare.Labels))
	got, err := ensemble.OutOfGroup(t.Context(), r, models, &bare)
	require.NoError(t, err)
	require.Empty(t, got.Logits)
	m, err := r.Learn(t.Context(), meta.Defaults(), models, ensemble.Window([][]*lethe.Slice{{&bare}}))
	require.NoError(t, err)
	require.NotNil(t, m)
}

// Who learns again asks only what is new: a model of another lineage about every slice, and
// all models about another slice. A model with the lineage of one that was asked is not.
func TestWhatIsKnownIsNotAskedAgain(t *testing.T) {
	const timesteps = 3
	r, models := trainedModels(t, timesteps, 2)
	all, other := columns(timesteps), columns(timesteps+1)
	window := [][]*lethe.Slice{{all[0][2], all[1][2], all[2][2]}}
	var known ensemble.Known
	learn := func(known *ensemble.Known) []byte {
		sources := ensemble.Window(window)
		sources.Known = known
		m, err := r.Learn(t.Context(), meta.Defaults(), models, sources)
		require.NoError(t, err)
		return m.Encode()
	}
	first := learn(nil)
	require.Equal(t, first, learn(&known))

	mute := *models[0]
	mute.Params = make([]float32, len(mute.Params))
	models[0] = &mute
	require.NotEqual(t, first, learn(nil))
	require.Equal(t, first, learn(&known), "it was asked although it has the lineage of one that was")
	mute.Lineage = lethe.Digest{1}
	second := learn(nil)
	require.Equal(t, second, learn(&known), "it was not asked")

	window[0][1] = other[1][3]
	third := learn(nil)
	require.NotEqual(t, second, third)
	require.Equal(t, third, learn(&known))
}

// What somebody else was told about a slice is not asked again, if it is about as many nodes as there are.
func TestWhatOthersWereToldIsTaken(t *testing.T) {
	const timesteps = 3
	r, models := trainedModels(t, timesteps, 2)
	all := columns(timesteps)
	window := [][]*lethe.Slice{{all[0][1], all[1][1], all[2][1]}, {all[0][2], all[1][2], all[2][2]}}
	heard := make([]*ensemble.Said, 6)
	var headers []ensemble.Header
	learn := func(known *ensemble.Known) []byte {
		sources := ensemble.Window(window)
		sources.Known, sources.Headers = known, headers
		sources.Heard = func(source int) *ensemble.Said { return heard[source] }
		m, err := r.Learn(t.Context(), meta.Defaults(), models, sources)
		require.NoError(t, err)
		return m.Encode()
	}
	want := learn(nil)
	var err error
	for _, source := range []int{1, 5} {
		heard[source], err = r.Said(t.Context(), models, window[source/3][source%3])
		require.NoError(t, err)
		require.NotEmpty(t, heard[source])
	}
	require.Equal(t, want, learn(nil))
	var known ensemble.Known
	require.Equal(t, want, learn(&known))

	told := heard[5]
	others := len(told.Probabilities) / len(told.Illicit)
	heard[5] = &ensemble.Said{Illicit: told.Illicit[1:], Probabilities: told.Probabilities[others:]}
	require.Equal(t, want, learn(nil), "of other nodes")
	heard[5] = &ensemble.Said{Illicit: told.Illicit, Probabilities: told.Probabilities[1:]}
	require.Equal(t, want, learn(nil), "of other models")
	heard[5] = &ensemble.Said{Illicit: told.Illicit, Probabilities: make([]float32, len(told.Probabilities))}
	require.NotEqual(t, want, learn(nil))
	require.Equal(t, want, learn(&known), "what is known is not taken from others")

	for _, s := range slices.Concat(window...) {
		headers = append(headers, ensemble.Header{Shard: s.Shard, Digest: canonical.DigestSlice(s)})
	}
	heard[5] = told
	window[1][2] = nil
	require.Equal(t, want, learn(nil), "a slice is read of which all is heard")
	known = ensemble.Known{}
	require.Equal(t, want, learn(&known))
	heard[5] = &ensemble.Said{Illicit: told.Illicit, Probabilities: make([]float32, len(told.Probabilities))}
	require.Equal(t, want, learn(&known), "what is known is not taken from others")
}
